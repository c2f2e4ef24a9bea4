#!/usr/bin/env bash
# What lib/scripts/docs.py fills in and what it refuses.
# shellcheck disable=SC2016  # Markdown's backquotes
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
root=$(cd "$(dirname "$0")/../.." && pwd)
docs=$root/lib/scripts/docs.py

# page TEXT: the page under test.
page() { printf '%s\n' "$1" >"$folder/page.md"; }

# filled: the page's content lines after filling, without fences and comments.
filled() {
  "$docs" "$folder/page.md" && grep -v -e '^```' -e '^<!--' "$folder/page.md"
}

# refuses NAME TEXT [OPTION]: docs.py exits with 1 and says TEXT.
refuses() {
  local said status
  said=$("$docs" "${@:3}" "$folder/page.md" 2>&1)
  status=$?
  equal "$1: exit status" 1 "$status"
  equal "$1: says '$2'" yes "$([[ $said == *"$2"* ]] && echo yes || echo "$said")"
}

cat >"$folder/code.cpp" <<'END'
/// Twice x.
int twice(int x);

double half(double x)
{
    // BEGIN SOLUTION 00.9 half
    if (x == 0.0)
        return 0.0;
    return x / 2.0;
    // END SOLUTION
}

/// A point.
struct Point {
    int x;  // a column
};
END
printf 'find = "x"\nreplace = """\nsum += 1;\n"""\n' >"$folder/bug.toml"
name=$(realpath --relative-to="$root" "$folder")

# block KIND ARGUMENT LANGUAGE CONTENT
block() { printf '<!-- %s: %s -->\n```%s\n%s\n```' "$1" "$2" "$3" "$4"; }

page "$(block include "$name/code.cpp half" cpp old)"
equal "a solution, dedented" "$(printf 'if (x == 0.0)\n    return 0.0;\nreturn x / 2.0;')" "$(filled)"
page "$(block include "$name/code.cpp twice" cpp old)"
equal "a declaration with its comment" "$(printf '/// Twice x.\nint twice(int x);')" "$(filled)"
page "$(block include "$name/code.cpp Point" cpp old)"
equal "a struct" "$(printf '/// A point.\nstruct Point {\n    int x;  // a column\n};')" "$(filled)"
page "$(block include "$name/bug.toml replace" cpp old)"
equal "a planted bug" "sum += 1;" "$(filled)"
page "$(block run 'echo one; echo two >&2' console old)"
equal "a transcript" "$(printf 'one\ntwo')" "$(filled)"
page "$(block 'run fails' 'echo no; exit 3' console old)"
equal "a failing command's transcript" no "$(filled)"

page "$(block run 'echo new' console old)"
refuses "a stale transcript" "+new" --check
page "$(block run 'echo new' console new)"
equal "a fresh transcript" "" "$("$docs" --check "$folder/page.md" 2>&1)"
page "$(block run 'exit 3' console '')"
refuses "a failing command" "exited with 3"
page "$(block 'run fails' true console '')"
refuses "a command that should fail" "exited with 0"
page "$(block include "$name/code.cpp third" cpp old)"
refuses "an unknown name" "holds no third"
page $'```cpp\nint x;\n```'
refuses "pasted code" "a cpp block without"
page $'<!-- run: true -->\ntext\n```console\n```'
refuses "a comment without its block" "a block must follow"
page $'```text\nnever closed'
refuses "an open block" "not closed"
page $'```sh\ntrue\nfalse\ntrue\n```'
refuses "a failing shell block" "exited with 1" --check
page $'<!-- shown only: it waits for the reader -->\n```sh\nfalse\n```'
equal "a shell block that is only shown" "" "$("$docs" --check "$folder/page.md" 2>&1)"

finish
