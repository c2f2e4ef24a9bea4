#!/usr/bin/env bash
# A student's way through an exercise, with the course's own Makefile and lesson 00, in a copy of the repository: so
# that nobody's exercises or progress are touched, and what is built already is not built again.
#
#   tests/lib/course_workflow.sh BUILD
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
copy=$folder
watcher=''
trap 'kill $watcher 2>/dev/null; clean_up' EXIT

mkdir -p "$copy/$build/tests/lib"
cp -a Makefile lib lessons solutions tests "$copy"
cp -a "$build/obj" "$build/shardlings" "$copy/$build"
cp -a "$build/tests/00_devices" "$copy/$build/tests"
[[ -f $build/mine ]] && cp -a "$build/mine" "$copy/$build"
rm -rf "$copy/$build/obj/exercises" "$copy/$build/obj/wrong"
cd "$copy" || exit 1

exercise() { run make exercise-00 BUILD="$build" PART="$1"; }
course() { run "$build/shardlings" course "$@"; }

short() { [[ $(wc -l <<<"$out") -le $1 ]]; }

exercises=exercises/00_devices
mine=$exercises/memory.cpp
solved() { cp solutions/00_devices/memory.cpp "$mine"; }

# --- a fresh start ------------------------------------------------------------------------------------------------
course generate
expect "exercises are written from the solutions" [ -f $mine ]
course generate --check
expect "what is generated passes the check" exits 0
run "$build/shardlings" progress
expect "progress: nothing is started" says "0 of 4 done"
expect "progress: a part says so" says "00.1  Memory                               not started"

exercise 00.1
expect "open: make fails" exits 2
expect "open: the part says so" says "not implemented   0 of 4 tests pass"
expect "open: where to write" says "not implemented: 00.1 make_zeros ($mine:9)"
run "$build/shardlings" progress
expect "open: progress calls it not started" says "00.1  Memory                               not started"

# --- hints ----------------------------------------------------------------------------------------------------------
run make hint-00 BUILD="$build"
expect "hint: the first, of the first open part" says "00.1 Memory"
expect "hint: one at a time" not says "Hint 2 of 3"
course hint 00
expect "hint: then the second" says "Hint 2 of 3"
course hint 0
expect "hint: then the third" says "Hint 3 of 3"
expect "hint: the third is a hint" not says "no more hints"
course hint 00_devices
expect "hint: then no more" says "no more hints"
expect "hint: the reference is not given away" not says solutions/
course hint 00 --solution
expect "hint: unless asked for" says "solutions/00_devices/memory.cpp"

# --- an error of the compiler, and of the linker -----------------------------------------------------------------------
solved
sed -i 's/zeros.fill_zero();/zeroes.fill_zero();/' $mine
exercise 00.1
expect "compiler error: make fails" exits 2
expect "compiler error: is shown with its line" says "$mine:9:5: error: "
expect "compiler error: the part says so" says "00.1  Memory                               does not compile"
expect "compiler error: little else is shown" short 14
expect "compiler error: make's noise is not" not says "build/obj/$mine"
solved
sed -i 's/std::uint64_t devices::layer_bytes/static std::uint64_t layer_bytes/' $mine
exercise 00.1
expect "a function that is missing: the linker's error" says "undefined reference to \`devices::layer_bytes"
expect "a function that is missing: the part does not compile" says "does not compile"

# --- wrong, right, changed ---------------------------------------------------------------------------------------------
solved
sed -i 's/return static_cast<std::uint64_t>(activations + weight_and_gradient)/return static_cast<std::uint64_t>(activations)/' $mine
exercise 00.1
expect "wrong: make fails" exits 2
expect "wrong: how many tests pass" says "failing           3 of 4 tests pass"
expect "wrong: which test" says "00.1 layer_bytes: x, y, the weight and its gradient"
expect "wrong: expected and got" says "expected 32"
solved
exercise 00.1
expect "right: make succeeds" exits 0
expect "right: the part is done" says "00.1  Memory                               done"
expect "right: what is next" says "Next: 00.2 Ping-pong, in exercises/00_devices/ping_pong.cpp"
run "$build/shardlings" progress
expect "right: progress counts it" says "1 of 4 done, 5 of 25 points"
course hint 00 --part 00.1
expect "right: the reference is no secret any more" says "solutions/00_devices/memory.cpp"
echo "// changed" >>$mine
run "$build/shardlings" progress
expect "changed: progress says so" says "done, changed since it was run"
course generate --check
expect "changed: the check names the file" says "$mine: differs"
expect "changed: the check fails" exits 1
echo "broken" >>$mine
exercise 00.1
expect "broken again: the old driver is not judged" says "does not compile"
run make solution-00 BUILD="$build" PART=00.1
expect "solution: passes the same tests" exits 0
run "$build/shardlings" progress
expect "solution: is not the student's progress" says "0 of 4 done"

# --- reset ----------------------------------------------------------------------------------------------------------------
cp $mine mine.cpp
run make reset-00 BUILD="$build"
expect "reset: names what it put back" says "put back $mine"
expect "reset: keeps a copy" cmp -s mine.cpp $exercises/.backup-*/memory.cpp
expect "reset: leaves untouched files alone" not says ring.cpp
course generate --check
expect "reset: all is as generated" exits 0
course reset 00
expect "reset: a second time there is nothing to do" says "nothing to put back"
expect "reset: no empty copy is made" [ "$(find $exercises -name '.backup-*' | wc -l)" = 1 ]

# --- bad input ---------------------------------------------------------------------------------------------------------------
course hint 77
expect "unknown lesson: one message that names the lessons" says "shardlings: there is no lesson '77'; the lessons are 00_devices"
course reset 00 --part 01.1
expect "unknown part: one message that names the parts" says "lesson 00_devices has no part '01.1'; its parts are 00.1"
cp .progress.json kept.json
echo '{' >.progress.json
course hint 00
expect "a broken progress file: says what to do" says "remove it to start anew"
mv kept.json .progress.json

# --- watch --------------------------------------------------------------------------------------------------------------------
# shellcheck disable=SC2016  # for the shell that runs it
printf '#!/bin/sh\nshift 2\necho "would make $*"\n' >make.sh
chmod +x make.sh
MAKE=./make.sh "$build/shardlings" course watch >watch.log 2>&1 </dev/null &
watcher=$!
waits_for() {  # TEXT: in what watch prints, at most 10 s
    for _ in {1..100}; do
        grep -q -- "$1" watch.log && return 0
        sleep 0.1
    done
    return 1
}
out='' status=0
expect "watch: says what it waits for" waits_for "waiting for a file of exercises/ to be saved"
echo "// saved" >>$exercises/ring.cpp
expect "watch: reruns the part that was saved" waits_for "would make --no-print-directory exercise-00 PART=00.4"
kill "$watcher"
wait "$watcher" 2>/dev/null
watcher=''
run bash -c "{ sleep 1; printf h; sleep 1; printf r; sleep 1; printf l; sleep 1; printf q; } |
    MAKE=./make.sh script -qec '$build/shardlings course watch' /dev/null"
expect "watch: q ends it" exits 0
expect "watch: h gives a hint" says "Hint 3 of 3"
expect "watch: r runs again" says "would make --no-print-directory exercise-00 PART=00.1"
expect "watch: l lists the parts" says "02.5  Recomputation"

# --- planted bugs -----------------------------------------------------------------------------------------------------------------
rm -rf tests/*/wrong
mkdir tests/00_devices/wrong
cat >tests/00_devices/wrong/forgets_the_gradient.toml <<'END'
part = "00.1"
file = "memory.cpp"
find = "2 * n * m"
replace = "n * m"
says = "gradient"
why = "the gradient takes memory too"
END
cat >tests/00_devices/wrong/no_bug_at_all.toml <<'END'
part = "00.1"
file = "memory.cpp"
find = "2 * n * m"
replace = "n * m * 2"
says = "gradient"
why = "the same number"
END
course plant --build "$build"
run make wrong-drivers BUILD="$build"
expect "planted bugs: their drivers are built" exits 0
course judge-wrong --build "$build"
expect "planted bugs: the one is caught" says "caught  00.1  forgets_the_gradient"
expect "planted bugs: the other is missed" says "MISSED  00.1  no_bug_at_all"
expect "planted bugs: counted" says "1 caught, 1 missed"
expect "planted bugs: one missed fails" exits 1

# --- grading ------------------------------------------------------------------------------------------------------------------------
mkdir -p submission/exercises/00_devices
cp solutions/00_devices/memory.cpp submission/exercises/00_devices
echo "int main( {" >submission/exercises/00_devices/ring.cpp
ln -s "$copy/solutions/00_devices/link.cpp" submission/exercises/00_devices/link.cpp
run "$build/shardlings" grade submission --build "$build" --json grade.json --seed 7
expect "grade: succeeds whatever the score" exits 0
expect "grade: full points for what is right" says "00.1  Memory                               done                   5 of 5"
expect "grade: none for what does not compile" says "does not compile       0 of 10"
expect "grade: with the error, in the submission's words" says "exercises/00_devices/ring.cpp:1:"
expect "grade: none for a link to elsewhere" says "00.3  α and β of a link                    missing                0 of 5"
expect "grade: a sum" says "score 5 of "
expect "grade: JSON" grep -q '"score": 5.0' grade.json
expect "grade: leaves nothing behind" [ -z "$(find "$build" -path '*submission/*')" ]
run "$build/shardlings" grade lib --build "$build"
expect "grade: a folder without exercises is refused" says "holds no exercise"
expect "grade: which is an error of the submission" exits 3

finish
