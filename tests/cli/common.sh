# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of the command line share. A test sources this, runs checks and ends with `finish`.

set -u
TROUPE=${TROUPE_TOOL:?the path of the program}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/troupe-cli-XXXXXX")
chmod 755 "$WORK"
FAILED=0
CHECKS=0
NODES=()

# The environment must not decide a test.
for variable in $(compgen -e | grep '^TROUPE_'); do
    case $variable in
    TROUPE_TOOL | TROUPE_SOURCE_DIR | TROUPE_BUILD_DIR | TROUPE_BENCH | TROUPE_TEST_*) ;;
    *) unset "$variable" ;;
    esac
done
unset XDG_RUNTIME_DIR

cleanup() {
    for pid in "${NODES[@]:-}"; do
        if [ -n "$pid" ]; then
            kill -KILL "$pid" 2>/dev/null
        fi
    done
    rm -rf "$WORK"
}
trap cleanup EXIT

fail() {
    FAILED=$((FAILED + 1))
    echo "FAILED: $*"
}

# run CODE COMMAND...: runs it, keeps OUT and ERR, and checks the exit code.
run() {
    local expected=$1
    shift
    "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    local code=$?
    OUT=$(tr -d '\0' <"$WORK/out")
    ERR=$(tr -d '\0' <"$WORK/err")
    CHECKS=$((CHECKS + 1))
    if [ "$code" -ne "$expected" ]; then
        fail "$* ended with $code, not $expected"
        sed 's/^/  out: /' "$WORK/out"
        sed 's/^/  err: /' "$WORK/err"
    fi
}

# has WHERE TEXT: OUT or ERR has the text in it.
has() {
    CHECKS=$((CHECKS + 1))
    case ${!1} in
    *"$2"*) ;;
    *)
        fail "$1 lacks \"$2\":"
        echo "${!1}" | sed 's/^/  /'
        ;;
    esac
}

lacks() {
    CHECKS=$((CHECKS + 1))
    case ${!1} in
    *"$2"*) fail "$1 has \"$2\" in it" ;;
    esac
}

# start_node NAME FLAGS...: runs a node with the socket $WORK/NAME.sock until it is up; PID is its number.
start_node() {
    local name=$1
    shift
    "$TROUPE" node "--admin.socket=$WORK/$name.sock" "--log.file=$WORK/$name.log" "$@" \
        >"$WORK/$name.out" 2>&1 &
    PID=$!
    NODES+=("$PID")
    CHECKS=$((CHECKS + 1))
    if ! "$TROUPE" ping --up --timeout 20000 --socket "$WORK/$name.sock" >/dev/null; then
        fail "node $name did not come up"
        cat "$WORK/$name.out" "$WORK/$name.log" 2>/dev/null
    fi
}

# ended CODE PID: the process ends with that code, within 20 s.
ended() {
    local waited=0
    CHECKS=$((CHECKS + 1))
    while kill -0 "$2" 2>/dev/null && [ "$waited" -lt 400 ]; do
        sleep 0.05
        waited=$((waited + 1))
    done
    if kill -0 "$2" 2>/dev/null; then
        fail "process $2 does not end"
        kill -KILL "$2"
    fi
    wait "$2"
    local code=$?
    if [ "$code" -ne "$1" ]; then
        fail "process $2 ended with $code, not $1"
    fi
    local left=()
    for pid in "${NODES[@]}"; do
        if [ "$pid" != "$2" ]; then
            left+=("$pid")
        fi
    done
    NODES=("${left[@]:-}")
}

# waits until a file has a line with this text, within 20 s.
wait_line() {
    local waited=0
    CHECKS=$((CHECKS + 1))
    while ! grep -q -- "$2" "$1" 2>/dev/null; do
        sleep 0.05
        waited=$((waited + 1))
        if [ "$waited" -ge 400 ]; then
            fail "$1 never had \"$2\" in it"
            cat "$1" 2>/dev/null
            return
        fi
    done
}

# Runs a command as a user without rights, when we are root; else as we are.
plain() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
    else
        "$@"
    fi
}

finish() {
    echo "$CHECKS checks, $FAILED failed"
    [ "$FAILED" -eq 0 ]
    exit $?
}
