# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# The configuration of the node program: files, precedence, refusals, and the page that documents it.

. "$(dirname "$0")/common.sh"

cat >"$WORK/good.yaml" <<'YAML'
cluster:
  name: shop
  members_min: 2
node:
  bind: "127.0.0.1:0"
YAML

# ---- precedence
run 0 "$TROUPE" config --config "$WORK/good.yaml" --changed
has OUT "cluster.name                   shop                     file"
run 0 env TROUPE_CLUSTER_NAME=env "$TROUPE" config --config "$WORK/good.yaml" --changed
has OUT "cluster.name                   env                      environment"
run 0 env TROUPE_CLUSTER_NAME=env "$TROUPE" config --config "$WORK/good.yaml" --cluster.name=flag
has OUT "cluster.name                   flag                     flag"
run 0 "$TROUPE" config --json --changed --cluster.name=x
has OUT '[{"key":"cluster.name","value":"x","source":"flag"}]'
run 2 "$TROUPE" config --security.secret_key=abc
lacks OUT abc
run 0 "$TROUPE" node --check --config "$WORK/good.yaml"
has OUT "the configuration is good"

# ---- refusals, all at once, with their lines
cat >"$WORK/bad.yaml" <<'YAML'
cluster:
  nmae: shop
  members_min: many
node:
  bind: nowhere
YAML
run 2 "$TROUPE" node --config "$WORK/bad.yaml" --log.lvel=debug
has ERR "command line: log.lvel: unknown key; did you mean log.level?"
has ERR "$WORK/bad.yaml:2: cluster.nmae: unknown key; did you mean cluster.name?"
has ERR "$WORK/bad.yaml:3: cluster.members_min: \"many\" is no whole number"
has ERR "$WORK/bad.yaml:5: node.bind: \"nowhere\" is no address"
run 2 "$TROUPE" node --config "$WORK/none.yaml"
has ERR "can't be read: No such file or directory"
run 2 "$TROUPE" node --config /
printf 'cluster: {name: "x\n' >"$WORK/broken.yaml"
run 2 "$TROUPE" node --config "$WORK/broken.yaml"
has ERR "broken.yaml:1: is not well-formed YAML"
run 0 env TROUPE_CLUSTER_NAEM=x "$TROUPE" config
has ERR "did you mean TROUPE_CLUSTER_NAME?"

# ---- what does not go together
run 2 "$TROUPE" node --node.bind=0.0.0.0:0 --security.insecure=true
has ERR "node.advertise: is needed when bound to all addresses"
run 2 "$TROUPE" node --node.bind=192.0.2.1:7001
has ERR "would listen beyond loopback without keys"
run 2 "$TROUPE" node --cluster.seeds=127.0.0.1:1
has ERR "node.bind: is needed with seeds"

# ---- keys in files
run 0 "$TROUPE" keygen --out "$WORK/node.key"
run 0 "$TROUPE" node --check --node.bind=127.0.0.1:0 "--security.secret_key_file=$WORK/node.key"
chmod 644 "$WORK/node.key"
run 2 "$TROUPE" node --check --node.bind=127.0.0.1:0 "--security.secret_key_file=$WORK/node.key"
has ERR "the file can be read by others; chmod 600 it"
echo nonsense >"$WORK/wrong.key"
chmod 600 "$WORK/wrong.key"
run 2 "$TROUPE" node --check --node.bind=127.0.0.1:0 "--security.secret_key_file=$WORK/wrong.key"
has ERR "there is no key in the file"

# ---- the documentation is that of the table
page=${TROUPE_SOURCE_DIR:?}/docs/configuration.md
run 0 "$TROUPE" config --markdown
sed -n '/^<!-- options: begin/,/^<!-- options: end/p' "$page" | sed '1d;$d' >"$WORK/page"
CHECKS=$((CHECKS + 1))
if ! diff -u "$WORK/page" "$WORK/out" >"$WORK/diff"; then
    fail "docs/configuration.md isn't what \`troupe config --markdown\` writes"
    cat "$WORK/diff"
fi

finish
