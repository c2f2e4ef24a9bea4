#!/usr/bin/env bash
# Format, tidy, shell scripts, which way includes point, every header alone: lib/scripts/lint.sh "COMPILER FLAGS".
# TIDY=no leaves clang-tidy out, which takes ten minutes.
# Ends with "N passed, N failed".
set -u
read -r -a flags <<<"${1:?usage: lint.sh \"COMPILER FLAGS\"}"
passed=0
failed=0
jobs=$(nproc 2>/dev/null || echo 2)

check() {  # NAME COMMAND…
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
        printf 'ok      %s\n' "$name"
    else
        failed=$((failed + 1))
        printf 'FAILED  %s\n%s\n' "$name" "$output"
    fi
}

mapfile -t sources < <(git ls-files '*.cpp' '*.hpp')
mapfile -t headers < <(git ls-files '*.hpp')
mapfile -t scripts < <(git ls-files '*.sh' .ci/run)

format() {
    clang-format --dry-run -Werror "${sources[@]}"
}

shell() {
    shellcheck "${scripts[@]}"
}

# lib/machine knows no lesson and no tool, base → device → comm, tensor → nn; a lesson sees lib/machine and lessons of
# its own or a lower number; nobody includes a solution or an exercise.
forbidden() {  # FOLDER PATTERN: includes in FOLDER that match PATTERN
    grep -rnE "#include \"($2)" "$1" && return 1
    return 0
}

includes() {
    local wrong=0 lesson other
    forbidden lib/machine 'lib/tools|lessons|solutions|exercises|tests' || wrong=1
    forbidden lib/machine/base 'lib/machine/(device|comm|tensor|nn)' || wrong=1
    forbidden lib/machine/device 'lib/machine/(comm|tensor|nn)' || wrong=1
    forbidden lib/machine/comm 'lib/machine/(tensor|nn)' || wrong=1
    forbidden lib/machine/tensor 'lib/machine/(comm|nn)' || wrong=1
    forbidden lib/tools 'solutions|exercises|tests' || wrong=1
    for lesson in lessons/[0-9]*; do
        for other in lessons/[0-9]*; do
            [[ $other > $lesson ]] || continue
            forbidden "$lesson" "$other" || wrong=1
            forbidden "solutions/${lesson#lessons/}" "$other" || wrong=1
        done
    done
    forbidden solutions 'solutions|exercises|lib/tools|tests' || wrong=1
    forbidden lessons 'solutions|exercises|lib/tools/(course|grade)|tests' || wrong=1
    return $wrong
}

compile_header() {
    printf '#include "%s"\n' "$1" | ${CXX:-g++} "${flags[@]}" -fsyntax-only -x c++ -
}

alone() {
    local wrong=0 header
    for header in "${headers[@]}"; do
        compile_header "$header" || wrong=1
    done
    return $wrong
}

# clang 14 cannot compile libstdc++'s std::source_location; to check our code, its declaration is enough.
shim=$(mktemp --suffix=.hpp)
trap 'rm -f "$shim"' EXIT
cat >"$shim" <<'END'
#include <source_location>
#ifndef __cpp_lib_source_location
namespace std {
struct source_location {
    static source_location current() { return {}; }
    const char* file_name() const { return ""; }
    unsigned line() const { return 0; }
};
}  // namespace std
#endif
END

tidy() {
    git ls-files 'lib/*.cpp' 'solutions/*.cpp' | grep -vE '/(bench|simgrid)/' |
        xargs -P "$jobs" -I{} clang-tidy --quiet {} -- "${flags[@]}" -include "$shim" 2>/dev/null
}

check 'clang-format' format
check 'shellcheck' shell
check 'includes point one way' includes
check 'every header compiles alone' alone
[[ ${TIDY:-} == no ]] || check 'clang-tidy' tidy
printf '%s passed, %s failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
