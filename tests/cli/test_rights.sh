# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# A user without rights: every refusal of the system becomes one clear line and an exit code.

. "$(dirname "$0")/common.sh"

# The program must be reachable for the plain user.
cp "$TROUPE" "$WORK/troupe"
chmod 755 "$WORK/troupe"
TROUPE=$WORK/troupe
mkdir -m 700 "$WORK/closed"
mkdir -m 777 "$WORK/open"
echo 'cluster.name: shop' >"$WORK/closed.yaml"
chmod 600 "$WORK/closed.yaml"
if [ "$(id -u)" -ne 0 ]; then
    # We own what we make: what is closed must be closed to ourselves.
    chmod 000 "$WORK/closed" "$WORK/closed.yaml"
fi

run 2 plain "$TROUPE" node --config "$WORK/closed.yaml"
has ERR "can't be read: Permission denied"
run 1 plain "$TROUPE" node "--admin.socket=$WORK/closed/a.sock" --log.level=off
has ERR "can't be started: the configuration is not valid"
run 1 plain "$TROUPE" node "--admin.socket=$WORK/none/a.sock" --log.level=error
has ERR "admin.not_open"
has ERR "No such file or directory"
run 1 plain "$TROUPE" node "--log.file=$WORK/closed/a.log"
has ERR "log.file: $WORK/closed/a.log can't be opened: Permission denied"
run 1 plain "$TROUPE" keygen --out "$WORK/closed/a.key"
has ERR "Permission denied"

# ---- a plain file where the socket should be is left alone
echo precious >"$WORK/open/file"
run 1 plain "$TROUPE" node "--admin.socket=$WORK/open/file" --log.level=off
[ "$(cat "$WORK/open/file")" = precious ] || fail "a file was taken for a socket"

# ---- a port that is in use
start_node one --node.bind=127.0.0.1:0 --cluster.name=rights
address=$("$TROUPE" info --json --socket "$WORK/one.sock" | sed 's/.*"address":"\([^"]*\)".*/\1/')
run 1 "$TROUPE" node "--node.bind=$address" "--admin.socket=$WORK/two.sock" --log.level=off
has ERR "is in use by another process"

# ---- somebody else's node is none of ours
if [ "$(id -u)" -eq 0 ]; then
    run 3 plain "$TROUPE" ping --socket "$WORK/one.sock"
    has ERR "Permission denied"
fi
kill -TERM "$PID"
ended 0 "$PID"
if [ "$(id -u)" -ne 0 ]; then
    chmod 700 "$WORK/closed"
fi

finish
