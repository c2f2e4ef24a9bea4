#!/usr/bin/env bash
# Installs the packages that are missing; prints nothing when none is.
#
#   lib/scripts/setup.sh [build|notebooks|jupyter|lint|grade|simulate|browser]...        (default: build)
#
# Debian and Ubuntu: by apt-get, through sudo unless run as root.
# Elsewhere, macOS included: one message that names them; installing them is left to the user.
# SETUP=no skips all of it, for a machine that has them by other means.
# Exit status 0: everything is there; 1: something is missing still; 2: wrong usage.
set -u
export LC_ALL=C

# "-": Homebrew has no formula for it, or macOS does not need it.
readonly table='
# purpose  Debian, Ubuntu       Homebrew
build      g++                  gcc
build      make                 make
build      git                  git
build      pkg-config           pkgconf
build      openmpi-bin          open-mpi
build      libopenmpi-dev       open-mpi
build      libeigen3-dev        eigen
build      libopenblas-dev      openblas
build      catch2               catch2
build      libfmt-dev           fmt
build      libcli11-dev         cli11
build      nlohmann-json3-dev   nlohmann-json
build      libtomlplusplus-dev  tomlplusplus
build      libpugixml-dev       pugixml
build      librandom123-dev     -
build      libbackward-cpp-dev  -
build      libdw-dev            -
build      python3              -
notebooks  python3-ipykernel    jupyterlab
notebooks  python3-nbclient     jupyterlab
notebooks  python3-nbformat     jupyterlab
notebooks  python3-matplotlib   -
notebooks  python3-pandas       -
notebooks  python3-pil          -
jupyter    jupyter-notebook     jupyterlab
lint       clang-format         clang-format
lint       clang-tidy           llvm
lint       shellcheck           shellcheck
grade      bubblewrap           -
simulate   libsimgrid-dev       simgrid
browser    chromium-headless-shell -
'

# names COLUMN: what the table has there for the chosen purposes, once each, on one line.
names() {
  awk -v purposes=" ${purposes[*]} " -v column="$1" '
    index(purposes, " " $1 " ") && $column != "-" && !seen[$column]++ {
      printf "%s%s", separator, $column; separator = " "
    }' <<<"$table"
}

# refuse WHY: says which packages are missing, why they were not installed, and what to run by hand.
refuse() {
  cat >&2 <<END
setup: missing: ${missing[*]}
  not installed, because $1
  by hand: ${by_hand}apt-get update && ${by_hand}apt-get install ${missing[*]}
  (SETUP=no before the command skips this check, if you have them by other means)
END
  exit 1
}

# elsewhere SYSTEM LIST: the same for a system without apt.
elsewhere() {
  cat >&2 <<END
setup: this system, $1, has no apt-get, so nothing is installed for you. Needed: $2
  Once they are there, SETUP=no before the command skips this check.
END
  exit 1
}

# apt_get ARGUMENT...: apt-get as root. A terminal sees its progress;
# its errors are added to $apt_errors, for one message at the end.
apt_get() {
  local errors status
  { errors=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${quiet[@]}" \
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
    "$@" 2>&1 >&3 3>&-); } 3>"$progress"
  status=$?
  apt_errors+=$errors$'\n'
  return "$status"
}

# lists_are_fresh: apt has package lists, and fetched them within the last day.
lists_are_fresh() {
  local lists=/var/lib/apt/lists
  eval "$(apt-config shell lists Dir::State::lists/d 2>/dev/null)"
  [[ -n $(find "$lists" -maxdepth 1 -name '*Packages*' -print -quit 2>/dev/null) ]] &&
    [[ -n $(find "$lists" -maxdepth 0 -mtime -1 2>/dev/null) ]]
}

# why_apt_failed: what $apt_errors comes down to, and apt's own words (one failed download stands for all).
why_apt_failed() {
  local quoted
  quoted=$(awk '/Failed to fetch/ { if (fetch++) next; print "    " $0; next }
    /^(E|sudo):/ && !seen[$0]++ && shown++ < 4 { print "    " $0 }' <<<"$apt_errors")
  case $apt_errors in
    *sudo:*) echo "sudo refused:" ;;
    *"Failed to fetch"*) echo "packages could not be downloaded (is there a network?):" ;;
    *"Unable to locate"* | *"no installation candidate"*)
      echo "apt knows no such package here (on Ubuntu: is \"universe\" enabled?):" ;;
    *) echo "apt-get failed:" ;;
  esac
  echo "${quoted:-    (it gave no reason)}"
}

[[ ${SETUP:-} == no ]] && exit 0
purposes=("${@:-build}") headers_by_hand=''
for purpose in "${purposes[@]}"; do
  case $purpose in
    build) headers_by_hand='; and, by hand, the headers of Random123 and backward-cpp' ;;
    notebooks | jupyter | lint | grade | simulate | browser) ;;
    *) echo "setup: unknown purpose '$purpose'; usage: setup.sh [build|notebooks|jupyter|lint|grade|simulate|browser]..." >&2; exit 2 ;;
  esac
done

read -ra packages <<<"$(names 2)"
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  system=$(uname -s)
  [[ $system == Darwin ]] && elsewhere macOS "brew install $(names 3)$headers_by_hand"
  elsewhere "$system" "the counterparts of Debian's packages ${packages[*]}"
fi

# shellcheck disable=SC2016  # dpkg-query fills in ${…}
installed=$(dpkg-query -W -f '|${db:Status-Status} ${Package}|' "${packages[@]}" 2>/dev/null)
missing=()
for package in "${packages[@]}"; do
  [[ $installed == *"|installed $package|"* ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=() by_hand='' apt_errors='' quiet=(-qq) progress=/dev/null
[[ -t 1 ]] && quiet=() progress=/dev/tty
if (($(id -u) != 0)); then
  by_hand='sudo '
  command -v sudo >/dev/null || { by_hand=''; refuse "you are not root and there is no sudo"; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
lists_are_fresh || apt_get update || true
apt_get install -y --no-install-recommends "${missing[@]}" || refuse "$(why_apt_failed)"
echo "setup: done"
