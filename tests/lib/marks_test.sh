#!/usr/bin/env bash
# What an instructor does: one grade in all formats, a class that is killed and taken up, points, late days, the
# bundle for Gradescope, the result for Classroom.
#
#   tests/lib/marks_test.sh BUILD
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
work=$folder
grader=''
trap '[[ -n $grader ]] && kill -9 "$grader" 2>/dev/null; clean_up' EXIT

python() { run python3 -c "$@"; }

# submission NAME [FILE…]: files of lesson 00's solutions
submission() {
    local folder=$work/class/$1/exercises/00_devices file
    mkdir -p "$folder"
    for file in "${@:2}"; do cp "solutions/00_devices/$file.cpp" "$folder"; done
}

# --- a class, killed after its first grade, and taken up ------------------------------------------------------------
hostile=$'bob <b>"&\e[31m'
submission ann memory
submission "$hostile" memory
printf '#error <script>\e[31m \xff\n' >"$work/class/$hostile/exercises/00_devices/memory.cpp"
mkdir -p "$work/class/cyd" "$work/class/eve/00_devices"
cp exercises/00_devices/memory.cpp "$work/class/eve/00_devices"
echo "dan,2026-12-03T00:00Z" >"$work/times"

grades=$work/marks/grades
export TMPDIR=$work/temporary  # open to all, as that of a machine
mkdir "$TMPDIR"
chmod a+x "$work" "$TMPDIR"
"$program" grade-all "$work/class" --out "$work/marks" --seed 7 --jobs 1 --build "$build" >"$work/first" 2>&1 &
grader=$!
until [[ -f $grades/ann.json ]] || ! kill -0 "$grader" 2>/dev/null; do sleep 0.05; done
kill -9 "$grader" 2>/dev/null
wait "$grader" 2>/dev/null
grader=''
# The system ends what it had started, which may take a moment on a busy machine.
for _ in {1..100}; do
    grep -qsa -f <(printf '%s\n' "$work/" SUBMISSION= obj/submission/) /proc/[0-9]*/cmdline || break
    sleep 0.1
done
first=$(stat -c '%i %Y' "$grades/ann.json" 2>/dev/null)
run cat "$work/first"
expect "class: the seed is said" says "4 submissions, 4 to be graded, test seed 7"
expect "class: killed, no report is there yet" [ ! -e "$work/marks/class.csv" ]

# Two more graders: one that is a zombie, as its parent never asks for its exit code, and one that runs.
bash -c 'sleep 0.5 & echo $!; exec sleep 1000' >"$work/zombie" &
parent=$!
for _ in {1..100}; do
    [[ -s $work/zombie ]] && grep -qs '^State:.Z' "/proc/$(<"$work/zombie")/status" && break
    sleep 0.1
done
mkdir -p "$build/submission/$(uname -n)-$(<"$work/zombie")" "$build/submission/$(uname -n)-$parent"
mkdir "$TMPDIR/shardlings-$(uname -n)-$(<"$work/zombie").zombie" "$TMPDIR/shardlings-$(uname -n)-$parent.parent"

run "$program" grade-all "$work/class" --out "$work/marks" --jobs 2 --build "$build"
expect "taken up: what a running grader builds is left alone" rmdir "$build/submission/$(uname -n)-$parent"
kill -9 "$parent"
expect "taken up: succeeds" exits 0
expect "taken up: only what is missing, with the same seed" says "4 submissions, 3 to be graded, test seed 7"
expect "taken up: the first grade was left alone" [ "$(stat -c '%i %Y' "$grades/ann.json")" == "$first" ]
expect "taken up: progress" says "3/3"
expect "taken up: a name cannot control the terminal" not says $'\e'
expect "taken up: one that holds nothing stops nobody" says "holds no exercise"
expect "taken up: what the killed one had built is gone" [ -z "$(ls "$build/submission" 2>/dev/null)" ]
expect "taken up: of temporary folders only the running one's is left" \
    [ "$(ls "$TMPDIR")" == "shardlings-$(uname -n)-$parent.parent" ]
unset TMPDIR
run cat "$work/marks/class.csv"
expect "CSV: a line for everyone" [ "$(wc -l <<<"$out")" == 5 ]
expect "CSV: points" says "ann,5,"
expect "an exercise as it was handed out has none" says "eve,0,"
expect "and is told so" grep -q "the file is as it was handed out" "$work/marks/students/eve.html"
before=$out
run "$program" grade-all "$work/class" --out "$work/marks" --build "$build"
expect "again: nothing to do" says "0 to be graded"
expect "again: the same table" [ "$(cat "$work/marks/class.csv")" == "$before" ]
python 'import html.parser, pathlib, sys
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.words, self.tags = [], "", set()
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        assert tag == "meta", tag
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.words += data
text = ""
for file in [pathlib.Path(sys.argv[1])/"class.html", *pathlib.Path(sys.argv[1]).glob("students/*.html")]:
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    assert not page.open and "script" not in page.tags and "b" not in page.tags, file
    assert "\x1b" not in page.words, file
    text += page.words
assert "<script>" in text and "bob <b>" in text
print("pages:", "good")' "$work/marks"
expect "HTML: well-formed, text of students is text" says "pages: good"

printf '{"points": {"00.1": {"points": 50}}}' >"$work/points.json"
run "$program" grade-all "$work/class" --out "$work/marks" --points "$work/points.json" --build "$build"
expect "points: changed without grading anew" says "0 to be graded"
expect "points: the new ones" grep -q "^ann,50," "$work/marks/class.csv"
run "$program" grade-all "$work/class" --out "$work/marks" --times "$work/times" --due 2026-12-01T00:00Z --build "$build"
expect "times: someone is missing" says "has no line for ann"
run "$program" grade-all "$work/class" --out /proc/marks --build "$build"
expect "a folder that cannot be written is an error" says "cannot write /proc/marks/class.json"
expect "which says so by its status" exits 1
printf '{"points": {"00.9": {}}}' >"$work/points.json"
run "$program" grade "$work/class/ann" --points "$work/points.json" --build "$build"
expect "points: a part that there is not" says "there is no lesson or part 00.9"

# --- Gradescope, as it starts things ---------------------------------------------------------------------------------
mkdir -p "$work/autograder"
ln -s "$PWD" "$work/autograder/source"
cp -r "$work/class/ann" "$work/autograder/submission"
cat >"$work/autograder/submission_metadata.json" <<'END'
{"id": 1, "created_at": "2026-12-02T10:00:00.365935-08:00",
 "assignment": {"due_date": "2026-12-01T23:59:00.000000-08:00", "late_due_date": null, "total_points": "700.0"},
 "users": [{"email": "a@example.org", "id": 2, "name": "Ann"}], "previous_submissions": []}
END
results=$work/autograder/results/results.json
AUTOGRADER=$work/autograder BUILD=$build lib/tools/marks/gradescope/run_autograder >"$work/log" 2>&1 &
grader=$!
versions=0 wrong=0
while kill -0 "$grader" 2>/dev/null; do  # valid at every moment
    if [[ -f $results ]]; then
        versions=$((versions + 1))
        python3 -m json.tool "$results" >/dev/null 2>&1 || wrong=$((wrong + 1))
    fi
    sleep 0.1
done
wait "$grader"
grader=''
run cat "$work/log"
expect "Gradescope: results are there while grading goes on" [ "$versions" -gt 1 ]
expect "Gradescope: and valid" [ "$wrong" == 0 ]
python 'import json, sys
results = json.load(open(sys.argv[1]))
print(results["score"], results["output"], len(results["tests"]), results["tests"][0]["status"])' "$results"
expect "Gradescope: a day late takes 10 %" says "4.5 1 day late: 10 % off 5 points"
expect "Gradescope: a test for each part" says "$(grep -c '^id = ' lessons/manifest.toml) passed"
rm -r "$work/autograder/submission" "$work/autograder/results"
mkdir "$work/autograder/submission"
run env AUTOGRADER="$work/autograder" BUILD="$build" lib/tools/marks/gradescope/run_autograder
python 'import json, sys
print(json.load(open(sys.argv[1]))["output"])' "$results"
expect "Gradescope: an empty submission is told so" says "holds no exercise"
run lib/tools/marks/gradescope/bundle.sh "$work/bundle.zip"
python 'import sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
print(*[name in names for name in ("setup.sh", "run_autograder", "Makefile", "tests/points.json")])
print(zipfile.ZipFile(sys.argv[1]).getinfo("run_autograder").external_attr >> 16 & 0o100 > 0)' "$work/bundle.zip"
expect "Gradescope: the bundle" says "True True True True"$'\n'"True"

# --- Classroom ---------------------------------------------------------------------------------------------------------
run python3 lib/tools/marks/classroom_result.py "$work/one.json"
expect "Classroom: no grade is an error" not exits 0
run "$program" grade "$work/class/ann" --json "$work/one.json" --junit "$work/one.xml" --seed 7 --build "$build"
expect "grade: says that there is no sandbox, or has one" grep -q '"tamper_proof": ' "$work/one.json"
run python3 lib/tools/marks/classroom_result.py "$work/one.json"
python 'import base64, json, sys
result = json.loads(base64.b64decode(sys.argv[1].split("=", 1)[1]))
grade = json.load(open(sys.argv[2]))
points = sum(test["score"] for test in result["tests"])
print(result["status"], result["max_score"] == grade["max"], points)' "$out" "$work/one.json"
expect "Classroom: the sum" says "fail True 5.0"

finish
