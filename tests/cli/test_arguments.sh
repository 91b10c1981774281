# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# Wrong arguments are refused with words that help; --help is everywhere.

. "$(dirname "$0")/common.sh"

# ---- help
run 2 "$TROUPE"
has OUT "Commands:"
run 0 "$TROUPE" --help
commands=$(echo "$OUT" | sed -n 's/^  \([a-z]\+\) .*/\1/p')
for command in $commands; do
    if [ "$command" != bench ]; then
        run 0 "$TROUPE" "$command" --help
        has OUT "troupe $command"
        has OUT "--json"
    fi
done
for command in node members topics stats tree pub sub tell ask ping leave down keygen bench; do
    case " $(echo $commands) " in
    *" $command "*) ;;
    *) fail "there is no command $command" ;;
    esac
done
run 0 "$TROUPE" help ask
has OUT "troupe ask ACTOR [BODY]"
run 0 "$TROUPE" node --help
has OUT "--cluster.name="
has OUT "TROUPE_CLUSTER_NAME"

# ---- version
run 0 "$TROUPE" version
has OUT "troupe "
run 0 "$TROUPE" --version
run 0 "$TROUPE" version --json
has OUT '{"version":"'

# ---- commands and flags that are none
run 2 "$TROUPE" memebrs
has ERR "unknown command memebrs; did you mean members?"
run 2 "$TROUPE" xyzzyplugh
has ERR "see \`troupe --help\`"
run 2 "$TROUPE" members --jsno
has ERR "unknown flag --jsno; did you mean --json?"
run 2 "$TROUPE" pub a b --cnofirm
has ERR "did you mean --confirm?"
run 2 "$TROUPE" version --socket x
has ERR "unknown flag --socket"

# ---- too few, too many, no value, no number
run 2 "$TROUPE" pub
has ERR "pub: wants TOPIC [BODY]"
run 2 "$TROUPE" members extra
has ERR "too many arguments, at \"extra\""
run 2 "$TROUPE" ping --timeout
has ERR "--timeout wants a value: MS"
run 2 "$TROUPE" ping --timeout soon
has ERR "\"soon\" is no number"
run 2 "$TROUPE" ping --json=yes
has ERR "--json takes no value"
run 2 "$TROUPE" node --cluster.name
has ERR "give its value as --cluster.name=VALUE"

# ---- foreign bytes don't reach the terminal
run 2 "$TROUPE" $'\033[31mred'
lacks ERR $'\033'

# ---- nobody there
run 3 "$TROUPE" ping --socket "$WORK/none.sock"
has ERR "no node answers at $WORK/none.sock"
run 3 "$TROUPE" pub a b --socket "$WORK/none.sock"
run 3 "$TROUPE" ping --up --timeout 100 --socket "$WORK/none.sock"
long=$(printf 'x%.0s' $(seq 200))
run 3 "$TROUPE" ping --socket "$WORK/$long"
has ERR "longer than"

# ---- keys
run 0 "$TROUPE" keygen
has OUT "secret_key: '"
run 0 "$TROUPE" keygen --json
has OUT '"public_key":"'
run 0 "$TROUPE" keygen --out "$WORK/a.key"
public=$OUT
[ "$(stat -c %a "$WORK/a.key")" = 600 ] || fail "a secret key that others may read"
[ "$(cat "$WORK/a.key.pub")" = "$public" ] || fail "the public key isn't the one written"
run 1 "$TROUPE" keygen --out "$WORK/a.key"
has ERR "File exists"
run 1 "$TROUPE" keygen --out "$WORK/none/a.key"

finish
