# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# Several nodes on the command line: join, topics and actors across nodes, leave, refusals, keys, a pause.

. "$(dirname "$0")/common.sh"

# The address that a node has bound.
address_of() {
    "$TROUPE" info --json --socket "$WORK/$1.sock" | sed 's/.*"address":"\([^"]*\)".*/\1/'
}

# members NAME COUNT: the node sees so many members that are up, within 20 s.
members() {
    local waited=0
    CHECKS=$((CHECKS + 1))
    while [ "$("$TROUPE" members --socket "$WORK/$1.sock" 2>/dev/null | grep -c ' up  ')" -ne "$2" ]; do
        sleep 0.05
        waited=$((waited + 1))
        if [ "$waited" -ge 400 ]; then
            fail "$1 does not see $2 members that are up"
            "$TROUPE" members --socket "$WORK/$1.sock" 2>&1
        tail -5 "$WORK"/*.log
        finish
            return
        fi
    done
}

start_node a --node.bind=127.0.0.1:0 --cluster.name=shop --cluster.roles=web,api
A=$PID
SEED=$(address_of a)
start_node b --node.bind=127.0.0.1:0 --cluster.name=shop "--cluster.seeds=$SEED" --node.name=bee
B=$PID

# ---- a seed in a file that comes late
"$TROUPE" node "--admin.socket=$WORK/c.sock" "--log.file=$WORK/c.log" --node.bind=127.0.0.1:0 \
    --cluster.name=shop "--cluster.seeds_file=$WORK/seeds" &
C=$!
NODES+=("$C")
wait_line "$WORK/c.log" state=joining
printf '# the first node\n%s\n' "$SEED" >"$WORK/seeds"
run 0 "$TROUPE" ping --up --timeout 20000 --socket "$WORK/c.sock"
members a 3
members b 3
members c 3
run 0 "$TROUPE" members --socket "$WORK/b.sock"
has OUT "web,api"
has OUT "leader"
has OUT "bee"
run 0 "$TROUPE" members --json --socket "$WORK/c.sock"
has OUT '"roles":["web","api"]'
run 0 "$TROUPE" links --socket "$WORK/a.sock"
has OUT " up "

# ---- topics and actors across nodes
"$TROUPE" sub orders --count 1 --raw --socket "$WORK/c.sock" >"$WORK/sub" 2>&1 &
SUB=$!
wait_line "$WORK/sub" subscribed
run 0 "$TROUPE" pub orders hello --confirm --socket "$WORK/b.sock"
has OUT "taken by 1 subscribers on 1 nodes"
ended 0 "$SUB"
OUT=$(cat "$WORK/sub")
has OUT hello
C_ADDRESS=$(address_of c)
run 0 "$TROUPE" ping "$C_ADDRESS" --socket "$WORK/a.sock"
has OUT "$C_ADDRESS up in"
run 1 "$TROUPE" ping 127.0.0.1:1 --socket "$WORK/a.sock"
has ERR "no such member"
run 0 "$TROUPE" tell "troupe://shop@$C_ADDRESS/system/lookup" hello --socket "$WORK/a.sock"
run 1 "$TROUPE" ask "troupe://shop@$C_ADDRESS/user/none" hello --socket "$WORK/a.sock"
has ERR "no such actor"
run 4 "$TROUPE" ask "troupe://shop@$C_ADDRESS/system/lookup" x --timeout 200 --socket "$WORK/a.sock"

# ---- one is told to leave by another
run 0 "$TROUPE" leave --node "$C_ADDRESS" --socket "$WORK/a.sock"
ended 0 "$C"
members a 2

# ---- a node is not downed by itself, nor one that nobody knows
run 1 "$TROUPE" down "$SEED" --socket "$WORK/a.sock"
has ERR "does not down itself"
run 1 "$TROUPE" down 127.0.0.1:1 --socket "$WORK/a.sock"
has ERR "no such member"
run 1 "$TROUPE" down nonsense --socket "$WORK/a.sock"
has ERR "a member is an address"

# ---- another cluster's node is refused, and says why
run 5 "$TROUPE" node --node.bind=127.0.0.1:0 --cluster.name=bakery "--cluster.seeds=$SEED" \
    --admin.socket=none --log.level=off
has ERR "the cluster refused this node: the other side belongs to a cluster of another name"
run 4 "$TROUPE" node --node.bind=127.0.0.1:0 --cluster.name=bakery "--cluster.seeds=$SEED" \
    --admin.socket=none --log.level=off --node.exit_when_refused=false --node.join_timeout_ms=1000
run 4 "$TROUPE" node --node.bind=127.0.0.1:0 --cluster.name=shop --cluster.seeds=127.0.0.1:1 \
    --admin.socket=none --log.level=off --node.join_timeout_ms=500
has ERR "not up within node.join_timeout_ms"

# ---- a node that was paused until the others gave it up comes back under a new uid
before=$("$TROUPE" info --json --socket "$WORK/b.sock" | sed 's/.*"uid":"\([^"]*\)".*/\1/')
kill -STOP "$B"
run 0 "$TROUPE" down "$(address_of a >/dev/null && "$TROUPE" members --json --socket "$WORK/a.sock" |
    sed "s/.*\"uid\":\"\($before\)\".*/\1/")" --socket "$WORK/a.sock"
members a 1
kill -CONT "$B"
members a 2
run 0 "$TROUPE" ping --up --timeout 20000 --socket "$WORK/b.sock"
after=$("$TROUPE" info --json --socket "$WORK/b.sock" | sed 's/.*"uid":"\([^"]*\)".*/\1/')
[ "$before" != "$after" ] || fail "it came back under its old uid"
grep -q node.rejoins "$WORK/b.log" || fail "the log does not say that it came back"

# ---- SIGTERM is a graceful leave: the other sees it leave, not fail
kill -TERM "$B"
ended 0 "$B"
members a 1
wait_line "$WORK/a.log" member_leaving
kill -TERM "$A"
ended 0 "$A"

# ---- keys: whoever isn't on the list is refused on both sides
for name in k1 k2 k3; do
    run 0 "$TROUPE" keygen --out "$WORK/$name.key"
done
cat "$WORK/k1.key.pub" "$WORK/k2.key.pub" >"$WORK/allowed"
start_node k1 --node.bind=127.0.0.1:0 "--security.secret_key_file=$WORK/k1.key" \
    "--security.allowed_keys_file=$WORK/allowed"
K1=$PID
K1_ADDRESS=$(address_of k1)
start_node k2 --node.bind=127.0.0.1:0 "--security.secret_key_file=$WORK/k2.key" \
    "--security.allowed_keys_file=$WORK/allowed" "--cluster.seeds=$K1_ADDRESS"
K2=$PID
members k1 2
run 0 "$TROUPE" info --socket "$WORK/k1.sock"
has OUT "encrypted          yes"
cat "$WORK/k1.key.pub" "$WORK/k3.key.pub" >"$WORK/allowed3"
run 5 "$TROUPE" node --node.bind=127.0.0.1:0 "--security.secret_key_file=$WORK/k3.key" \
    "--security.allowed_keys_file=$WORK/allowed3" "--cluster.seeds=$K1_ADDRESS" \
    --admin.socket=none --log.level=off --node.join_timeout_ms=10000
has ERR "key is not allowed"
wait_line "$WORK/k1.log" EAUTH
kill -TERM "$K2"
ended 0 "$K2"
kill -TERM "$K1"
ended 0 "$K1"

finish
