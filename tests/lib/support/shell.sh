# shellcheck shell=bash
# What the tests that are shell scripts have in common: they count what passes and fails, have a folder that goes when
# they end, and end with the line that lib/scripts/test.sh reads. To be sourced in the repository's folder, with the
# build folder as $1 (build, when it is not given).
set -u
build=${1:-build}
# shellcheck disable=SC2034  # for those who source this
program=$build/shardlings
passed=0 failed=0
folder=$(mktemp -d)
clean_up() {
    chmod -R u+w "$folder"
    rm -rf "$folder"
}
trap clean_up EXIT

ok() { passed=$((passed + 1)); }
wrong() {  # MESSAGE…
    failed=$((failed + 1))
    printf 'FAILED  %s\n' "$*"
}

# The last command of a test: its summary, and an exit code that says whether all passed.
finish() {
    printf '%s passed, %s failed\n' "$passed" "$failed"
    [[ $failed -eq 0 ]]
}

# The command must succeed; when it does not, what it printed is shown.
check() {  # NAME COMMAND…
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then ok; else wrong "$name: $output"; fi
}

accepted() { check "$*" "$program" "$@"; }  # ARGUMENT…

same_file() { check "$1 and $2" cmp "$1" "$2"; }  # A B

equal() {  # NAME EXPECTED GOT
    if [[ $2 == "$3" ]]; then ok; else wrong "$1: expected"$'\n'"$2"$'\n'"got"$'\n'"$3"; fi
}

# The command must succeed and print a line that is `line`.
prints() {  # LINE COMMAND…
    local line=$1 output
    shift
    if ! output=$("$@" 2>&1); then
        wrong "$*: $output"
    elif ! grep -qxF -- "$line" <<<"$output"; then
        wrong "$*: expected the line '$line', it printed: $output"
    else
        ok
    fi
}

# What the command prints, runs of spaces being one.
squeezed() (  # COMMAND…
    set -o pipefail
    "$@" | tr -s ' '
)

# What the command prints on standard error alone.
errors_of() { "$@" >/dev/null; }  # COMMAND…

# The command must fail, within the time a person waits, with one message: one line of what it prints matches, no more
# than $message_lines are there, and no file $folder/out… is.
message_lines=8
fails_with() {  # REGULAR-EXPRESSION COMMAND…
    local message=$1 output code=0 begin=$SECONDS
    shift
    output=$("$@" 2>&1) || code=$?
    if [[ $code -eq 0 ]]; then
        wrong "$*: it was accepted"
    elif [[ $(grep -cE -- "$message" <<<"$output") -ne 1 ]]; then
        wrong "$*: expected '$message' once, it said: $output"
    elif [[ $(grep -c . <<<"$output") -gt $message_lines ]]; then
        wrong "$*: more than one message: $output"
    elif compgen -G "$folder/out*" >/dev/null; then
        wrong "$*: it left $(ls -d "$folder"/out*)"
        rm -rf "$folder"/out*
    elif [[ $((SECONDS - begin)) -gt 20 ]]; then
        wrong "$*: it took $((SECONDS - begin)) s to say so"
    else
        ok
    fi
}

# Many questions about one command: run COMMAND…, then expect NAME CONDITION… for each of them.
run() {  # COMMAND…: sets $out (both outputs) and $status
    out=$("$@" 2>&1 </dev/null)
    status=$?
}
expect() {  # NAME CONDITION…: a failure shows what was seen
    local name=$1
    shift
    if "$@"; then ok; else wrong "$name"$'\n'"$(seen)"; fi
}
seen() { printf '  status %s, printed:\n    %s\n' "$status" "${out//$'\n'/$'\n'    }"; }
says() { [[ $out == *"$1"* ]]; }
exits() { [[ $status == "$1" ]]; }
not() { ! "$@"; }
