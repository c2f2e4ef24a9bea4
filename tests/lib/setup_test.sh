#!/usr/bin/env bash
# What lib/scripts/setup.sh does and says on systems faked by a folder of commands that is its whole PATH.
# shellcheck disable=SC2016  # the bodies of faked commands expand when they run
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
setup=$(cd "$(dirname "$0")/../.." && pwd)/lib/scripts/setup.sh
work=$folder

# fake NAME BODY: a command of the faked system; it notes how it was called in $work/calls.
fake() {
  printf '#!%s\necho "%s $*" >>"$WORK/calls"\n%s\n' "$BASH" "$1" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# a_system: Debian, root, an apt that installs whatever it is asked for, fresh package lists, nothing installed.
a_system() {
  rm -rf "${work:?}"/*
  mkdir -p "$work/bin" "$work/lists"
  local tool
  for tool in awk env find cat; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
  : >"$work/calls"
  : >"$work/installed"
  touch "$work/lists/archive_Packages"
  fake uname 'echo Linux'
  fake id 'echo 0'
  fake apt-config 'echo "lists='\''$WORK/lists'\''"'
  fake dpkg-query 'cat "$WORK/installed"'
  fake apt-get 'exit 0'
}

# have PACKAGE...: dpkg-query reports these as installed.
have() { printf '|installed %s|' "$@" >"$work/installed"; }

# run ARGUMENT...: setup.sh on the faked system; sets $status, $out (standard output) and $err.
run() {
  WORK=$work PATH=$work/bin SETUP=${SETUP_VARIABLE:-} "$BASH" "$setup" "$@" \
    >"$work/out" 2>"$work/err" </dev/null
  status=$? out=$(<"$work/out") err=$(<"$work/err")
}

# What a failure shows: what setup.sh said.
seen() {
  printf '  status %s\n  output: %s\n  errors: %s\n  calls: %s\n' "$status" "$out" "$err" "$(tr '\n' ';' <"$work/calls")"
}
says() { [[ $err == *"$1"* ]]; }
says_once() { says "$1" && [[ ${err/"$1"/} != *"$1"* ]]; }
silent() { [[ -z $out$err ]]; }
called() { grep -q -- "$1" "$work/calls"; }

lint=(clang-format clang-tidy shellcheck)

a_system
have "${lint[@]}"
run lint
expect "nothing missing: succeeds" exits 0
expect "nothing missing: prints nothing" silent
expect "nothing missing: asks dpkg once" [ "$(grep -c dpkg-query "$work/calls")" = 1 ]
expect "nothing missing: leaves apt alone" not called apt-get

a_system
have clang-format clang-tidy
run lint
expect "one missing: succeeds" exits 0
expect "one missing: says what it installs" [ "${out%%$'\n'*}" = "setup: installing shellcheck" ]
expect "one missing: installs only that" called '^apt-get .*install -y --no-install-recommends shellcheck$'
expect "fresh lists are not fetched again" not called 'apt-get.*update'

a_system
printf '|config-files shellcheck||installed clang-format||installed clang-tidy|' >"$work/installed"
run lint
expect "removed but configured counts as missing" called 'install.* shellcheck$'

a_system
run
expect "the default is what the build needs" called 'install.* libopenmpi-dev '
expect "the default leaves linters out" not called 'install.* shellcheck'

a_system
run build lint
expect "several purposes at once" called 'install.* libopenmpi-dev .* shellcheck'

a_system
rm "$work/lists/archive_Packages"
run lint
expect "missing lists are fetched first" called 'apt-get.* update$'
expect "missing lists are fetched once" [ "$(grep -c 'apt-get.* update$' "$work/calls")" = 1 ]

a_system
touch -d '3 days ago' "$work/lists"
run lint
expect "old lists are fetched first" called 'apt-get.* update$'

a_system
fake id 'echo 1000'
fake sudo 'exec "$@"'
run lint
expect "a user with sudo: succeeds" exits 0
expect "a user with sudo: apt-get through it, without questions" called '^sudo env DEBIAN_FRONTEND=noninteractive apt-get .*install'

a_system
fake id 'echo 1000'
run lint
expect "no sudo: fails" exits 1
expect "no sudo: says so" says "you are not root and there is no sudo"
expect "no sudo: names the packages" says "missing: ${lint[*]}"
expect "no sudo: names the command once" says_once "apt-get install ${lint[*]}"
expect "no sudo: does not name sudo in it" not says "sudo apt-get"
expect "no sudo: leaves apt alone" not called apt-get

a_system
fake id 'echo 1000'
fake sudo 'echo "sudo: a password is required" >&2; exit 1'
run lint
expect "sudo refuses: fails" exits 1
expect "sudo refuses: says so in its words" says "sudo refused:"$'\n'"    sudo: a password is required"
expect "sudo refuses: names the command" says "sudo apt-get update && sudo apt-get install ${lint[*]}"

a_system
rm "$work/lists/archive_Packages"
fake apt-get 'case "$*" in *update) echo "W: Failed to fetch http://a/InRelease  Temporary failure resolving a" >&2
    echo "W: Failed to fetch http://b/InRelease  Temporary failure resolving b" >&2 ;;
  *) echo "E: Unable to locate package shellcheck" >&2; exit 100 ;; esac'
run lint
expect "no network: fails" exits 1
expect "no network: that is the reason, not the package" says_once "could not be downloaded (is there a network?)"
expect "no network: one download stands for all" says_once "Failed to fetch"
expect "no network: names the packages and the command" says "apt-get install ${lint[*]}"
expect "no network: one message" [ "$(grep -c '^setup:' "$work/err")" = 1 ]

a_system
fake apt-get 'echo "E: Unable to locate package shellcheck" >&2; exit 100'
run lint
expect "unknown package: fails" exits 1
expect "unknown package: says so" says "apt knows no such package here"
expect "unknown package: names it" says "Unable to locate package shellcheck"

a_system
fake apt-get 'echo "E: You do not have enough free space in /var/cache/apt/archives/." >&2; exit 100'
run lint
expect "another failure: fails" exits 1
expect "another failure: in apt's words" says "apt-get failed:"$'\n'"    E: You do not have enough free space"

a_system
fake apt-get 'exit 100'
run lint
expect "a failure without a word is said to be one" says "(it gave no reason)"

a_system
fake uname 'echo Darwin'
rm "$work/bin/apt-get" "$work/bin/dpkg-query"
fake brew 'exit 0'
run
expect "macOS: fails" exits 1
expect "macOS: names each formula once" says "brew install gcc make git pkgconf open-mpi eigen openblas catch2 fmt cli11 nlohmann-json tomlplusplus pugixml;"
expect "macOS: names what Homebrew lacks" says "the headers of Random123 and backward-cpp"
expect "macOS: does not run brew" not called '^brew'
run lint
expect "macOS: the linters' formulae" says "brew install clang-format llvm shellcheck"
expect "macOS: linters need no headers" not says Random123

a_system
fake uname 'echo FreeBSD'
rm "$work/bin/apt-get" "$work/bin/dpkg-query"
run lint
expect "another system: fails" exits 1
expect "another system: names itself and what is needed" says "FreeBSD, has no apt-get, so nothing is installed for you. Needed: the counterparts of Debian's packages ${lint[*]}"

a_system
SETUP_VARIABLE=no run
expect "SETUP=no: succeeds" exits 0
expect "SETUP=no: prints nothing, asks nobody" [ -z "$out$err$(<"$work/calls")" ]

a_system
run build lnit
expect "unknown purpose: usage error" exits 2
expect "unknown purpose: is named" says "unknown purpose 'lnit'"
expect "unknown purpose: installs nothing" not called apt-get

finish
