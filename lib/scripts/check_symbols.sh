#!/usr/bin/env bash
# Fails when an exercise's object defines other global symbols than its solution's, and names them.
#
#   lib/scripts/check_symbols.sh BUILD       (after make check-exercises has compiled both)
#
# Weak symbols (templates, inline functions) are left out: both sides make those that they happen to use.
set -u
export LC_ALL=C
build=${1:?usage: check_symbols.sh BUILD}
same=0 different=0

# symbols OBJECT: the strong global symbols it defines, one a line.
symbols() { nm --extern-only --defined-only --demangle "$1" | sed -n 's/^[0-9a-f]* [TDBRGS] //p' | sort; }

for solution in solutions/*/*.cpp; do
  name=${solution#solutions/}
  name=${name%.cpp}
  objects=("$build/obj/solutions/$name.o" "$build/obj/exercises/$name.o")
  for object in "${objects[@]}"; do
    [[ -f $object ]] && continue
    echo "check_symbols: $object is missing: run make check-exercises" >&2
    exit 2
  done
  found=$(diff <(symbols "${objects[0]}") <(symbols "${objects[1]}") |
    sed -n "s|^< |  only in solutions/$name.cpp: |p; s|^> |  only in exercises/$name.cpp: |p")
  if [[ -z $found ]]; then
    same=$((same + 1))
  else
    different=$((different + 1))
    printf 'exercises/%s.cpp defines other symbols than its solution:\n%s\n' "$name" "$found"
  fi
done
echo "$same exercises define what their solutions define, $different do not"
((different == 0))
