# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# Read by the other scripts: building a preset, running tests and counting them.

# Nothing is said of a build that goes well.
quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
        echo "failed ($status): $*" >&2
        # The complaint first: with several compilers at once it isn't at the end.
        grep -E -A 8 '(error|undefined reference|Error [0-9])' "$log" | head -n 60 | cut -c 1-300 >&2 || true
        tail -n 40 "$log" | cut -c 1-300 >&2
    fi
    rm -f "$log"
    return $status
}

# configure_and_build PRESET FOLDER [TARGET...]
configure_and_build() {
    local preset=$1 folder=$2
    shift 2
    local generator=()
    if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then
        generator=(-G Ninja)
    fi
    quietly cmake --preset "$preset" -B "$folder" "${generator[@]}" || return
    local targets=()
    [ $# -eq 0 ] || targets=(--target "$@")
    quietly cmake --build "$folder" -j "$(nproc)" "${targets[@]}"
}

# The value of an attribute of a JUnit file's first element.
junit_attribute() {
    sed -n "s/.*<testsuite[^>]*[ \t]$2=\"\([0-9]*\)\".*/\1/p;t;s/^[ \t]*$2=\"\([0-9]*\)\".*/\1/p" "$1" |
        head -n 1
}

# run_tests FOLDER LIMIT CTEST_OPTION...: runs ctest for at most LIMIT seconds (0: without end) and
# prints `N passed, N failed` last. A test that was skipped or didn't run is a failed one.
run_tests() {
    local folder=$1 limit=$2 status=0
    shift 2
    local junit=$PWD/$folder/tests.xml
    [[ $folder = /* ]] && junit=$folder/tests.xml
    rm -f "$junit"
    timeout --kill-after=20 "$limit" ctest --test-dir "$folder" --output-on-failure \
        --no-tests=error -j "$(nproc)" --output-junit "$junit" "$@" || status=$?
    if [ ! -s "$junit" ]; then
        echo "ctest ended without a result (status $status)" >&2
        echo "0 passed, 1 failed"
        return 1
    fi
    local total failed disabled skipped
    total=$(junit_attribute "$junit" tests)
    failed=$(junit_attribute "$junit" failures)
    disabled=$(junit_attribute "$junit" disabled)
    skipped=$(junit_attribute "$junit" skipped)
    failed=$((failed + disabled + skipped))
    echo "$((total - failed)) passed, $failed failed"
    [ "$total" -gt 0 ] && [ "$failed" -eq 0 ] && [ "$status" -eq 0 ]
}
