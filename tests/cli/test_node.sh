# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# One node without links: what the commands say of it, how it ends, and what it refuses to do.

. "$(dirname "$0")/common.sh"

start_node one --log.level=debug --log.format=json
S=(--socket "$WORK/one.sock")

# ---- looking
[ "$(stat -c %a "$WORK/one.sock")" = 600 ] || fail "the admin socket is open to others"
run 0 "$TROUPE" ping "${S[@]}"
has OUT " up in "
run 0 "$TROUPE" ping --json --count 3 "${S[@]}"
has OUT '"state":"up"'
run 0 "$TROUPE" info --json "${S[@]}"
has OUT '"state":"up"'
run 0 "$TROUPE" tree "${S[@]}"
has OUT "/user "
has OUT "/system/lookup"
run 0 "$TROUPE" tree --limit 1 "${S[@]}"
has ERR "there are more; see --limit"
run 0 "$TROUPE" stats "${S[@]}"
has OUT "made + received = taken + handed over + dropped + in flight: holds"
run 0 "$TROUPE" stats --json "${S[@]}"
has OUT '"in_flight":0'
run 1 "$TROUPE" members "${S[@]}"
has ERR "has no links"
run 1 "$TROUPE" links "${S[@]}"
run 1 "$TROUPE" down 127.0.0.1:1 "${S[@]}"
run 0 env "TROUPE_ADMIN_SOCKET=$WORK/one.sock" "$TROUPE" ping

# ---- topics
"$TROUPE" sub orders --count 2 --json "${S[@]}" >"$WORK/sub" 2>&1 &
SUB=$!
wait_line "$WORK/sub" subscribed
run 0 "$TROUPE" topics "${S[@]}"
has OUT "orders"
run 0 "$TROUPE" topics --json "${S[@]}"
has OUT '"topic":"orders","subscribers_here":1'
run 0 "$TROUPE" pub orders hello --confirm "${S[@]}"
has OUT "taken by 1 subscribers on 1 nodes"
printf 'a\0\377' >"$WORK/bytes"
"$TROUPE" pub orders - "${S[@]}" <"$WORK/bytes" || fail "bytes from standard input"
ended 0 "$SUB"
OUT=$(cat "$WORK/sub")
has OUT '"body":"hello"'
has OUT '"body_hex":"6100ff"'
run 1 "$TROUPE" pub nobody hello --confirm "${S[@]}"
run 0 "$TROUPE" pub nobody hello "${S[@]}"
run 4 "$TROUPE" sub quiet --count 1 --timeout 100 "${S[@]}"
"$TROUPE" sub 'orders.*.created' --pattern --count 1 --raw "${S[@]}" >"$WORK/pattern" 2>/dev/null &
PATTERN=$!
until "$TROUPE" pub orders.eu.created new --confirm "${S[@]}" >/dev/null || ! kill -0 $PATTERN; do :; done
ended 0 "$PATTERN"
OUT=$(cat "$WORK/pattern")
has OUT new
run 1 "$TROUPE" sub 'or*.x' --pattern "${S[@]}"
has ERR "a pattern is words with dots between them"
run 1 "$TROUPE" pub orders x --type none.such "${S[@]}"
has ERR "no such message type"

# ---- actors
run 1 "$TROUPE" ask /user/none hello "${S[@]}"
has ERR "no such actor"
run 1 "$TROUPE" tell nonsense hello "${S[@]}"
has ERR "neither a path"
run 1 "$TROUPE" ask troupe://127.0.0.1:1/user/x hello "${S[@]}"
run 4 "$TROUPE" ask /system/lookup hello --timeout 100 "${S[@]}"
run 0 "$TROUPE" tell '/user/*' hello "${S[@]}"
run 0 "$TROUPE" tell '#0000000000000001.0000000000000001' hello "${S[@]}"

# ---- logs
run 0 "$TROUPE" log error "${S[@]}"
run 0 "$TROUPE" log debug --room link "${S[@]}"
run 1 "$TROUPE" log loud "${S[@]}"
run 1 "$TROUPE" log debug --room kitchen "${S[@]}"
run 0 "$TROUPE" log debug "${S[@]}"
grep -q '^{"time":' "$WORK/one.log" || grep -q '^{' "$WORK/one.log" || fail "the log isn't JSON"
mv "$WORK/one.log" "$WORK/one.log.1"
kill -HUP "$PID"
wait_line "$WORK/one.log" log.reopened

# ---- a second node can't take the first one's socket
run 1 "$TROUPE" node "--admin.socket=$WORK/one.sock" "--log.file=$WORK/two.log"
has ERR "in use by another process"
run 0 "$TROUPE" ping "${S[@]}"

# ---- SIGTERM ends it in order, and takes the socket away
kill -TERM "$PID"
ended 0 "$PID"
wait_line "$WORK/one.log" '"state":"stopped"'
[ ! -e "$WORK/one.sock" ] || fail "the socket is still there"
run 3 "$TROUPE" ping "${S[@]}"

# ---- so does SIGINT; and a node that was killed leaves nothing in the way
start_node one
kill -KILL "$PID"
wait "$PID" 2>/dev/null
start_node one
kill -INT "$PID"
ended 0 "$PID"

# ---- an operator lets it leave
start_node one
run 0 "$TROUPE" leave "${S[@]}"
ended 0 "$PID"

finish
