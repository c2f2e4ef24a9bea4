#!/usr/bin/env python3
"""Grades every submission of tests/grade with `shardlings grade` and says which scores are not as they should be.

    tests/grade/corpus.py BUILD [NAME...]     all, or those whose name holds one of the words; --jobs 2, --show

A file of cheats/, honest/ or mistakes/ is a submission of one exercise, made from its solution:

    part   = "00.4"            the exercise; all others are missing
    why    = "..."             what the cheat is after, or what the variant does otherwise
    says   = 'regex'           cheats, mistakes: what the report must say of the part (case is ignored)
    shows  = 'regex'           mistakes: what the student's page must show, too
    earns  = 0                 mistakes: points of the part
    beside = ["00.1"]          parts submitted as the solution has them, which must keep their points
    compiles = false           the compiler refuses it; otherwise it must not, so that it fails for its own reason
    top    = '''...'''         text before the first line of the solution
    before = '''...'''         text behind its #includes and usings
    behind = '''...'''         text after its end
    [body]                     what stands between BEGIN SOLUTION and END SOLUTION of these functions instead
    function = '''...'''

A cheat must earn 0 points, a variant all of them, each within `limit` seconds, and nothing may be left of it.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

import packages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KINDS = ("cheats", "honest", "mistakes")
KEYS = {"shows", "earns", "part", "why", "says", "beside", "compiles", "top", "before", "behind", "body", "limit"}
LIMIT = 60.0  # seconds that a grade of one file may take on a busy machine
TELLTALE = "shardlings-cheat"  # what every attack that leaves something behind has in its name
MOST_REPORT = 256 * 1024  # bytes: a report that a person opens
MOST_PAGE = 1024 * 1024  # bytes: with a picture of as many events as it may have
PLACES = ["/tmp", "/var/tmp", "/dev/shm", "/run", "/", str(pathlib.Path.home()), str(ROOT)]


class Entry:
    """One submission and what is expected of it."""

    def __init__(self, file, files_of_parts):
        self.kind = file.parent.name
        self.name = f"{self.kind}/{file.stem}"
        data = tomllib.loads(file.read_text())
        unknown = set(data) - KEYS
        if unknown or "part" not in data or "why" not in data:
            raise SystemExit(f"{file}: unknown {unknown}" if unknown else f"{file}: 'part' and 'why' are needed")
        self.data = data
        self.part = data["part"]
        self.beside = data.get("beside", [])
        self.says = re.compile(data.get("says", ""), re.IGNORECASE | re.DOTALL)
        self.shows = re.compile(data.get("shows", ""), re.DOTALL)
        if self.kind != "honest" and not data.get("says"):
            raise SystemExit(f"{file}: 'says' is needed: what a teacher reads")
        self.limit = data.get("limit", LIMIT)
        self.files = {part: files_of_parts[part] for part in [self.part, *self.beside]}

    def source(self):
        text = (ROOT / "solutions" / self.files[self.part]).read_text()
        for function, body in self.data.get("body", {}).items():
            pattern = re.compile(
                rf"([ \t]*// BEGIN SOLUTION \S+ {re.escape(function)}\n).*?([ \t]*// END SOLUTION\n)", re.DOTALL)
            if len(pattern.findall(text)) != 1:
                raise SystemExit(f"{self.name}: solutions/{self.files[self.part]} has no one solution of {function}")
            text = pattern.sub(lambda marks, body=body: marks[1] + body.strip("\n") + "\n" + marks[2], text)
        lines = text.splitlines(keepends=True)
        head = max(i for i, line in enumerate(lines) if line.startswith(("#include", "using namespace")))
        lines.insert(head + 1, self.data.get("before", ""))
        return self.data.get("top", "") + "".join(lines) + self.data.get("behind", "")

    def expected(self, exercise):
        """The points that an exercise of the report must have."""
        full = exercise["id"] in self.beside or (exercise["id"] == self.part and self.kind == "honest")
        return exercise["max"] if full else self.data.get("earns", 0) if exercise["id"] == self.part else 0

    def write(self, place):
        """Makes the submission in the folder and returns its path."""
        for part, file in self.files.items():
            exercise = place / "submission" / "exercises" / file
            exercise.parent.mkdir(parents=True, exist_ok=True)
            exercise.write_text(self.source() if part == self.part else (ROOT / "solutions" / file).read_text())
        return place / "submission"


class Package:
    """A submission of packages.py, with what Entry has."""

    kind = "packages"
    part = packages.PART
    limit = LIMIT
    shows = re.compile("")

    def __init__(self, name, solution):
        self.name = f"packages/{name}"
        self.solution = solution
        self.data = {}
        self.make, self.earns, says = packages.PACKAGES[name]
        self.says = re.compile(says, re.IGNORECASE | re.DOTALL)

    def expected(self, exercise):
        return self.earns if self.earns and exercise["id"] == self.part else 0

    def write(self, place):
        return self.make(place, self.solution)


def files_of_parts():
    """{"00.4": "00_devices/ring.cpp"}"""
    manifest = tomllib.loads((ROOT / "lessons" / "manifest.toml").read_text())
    return {part["id"]: f"{lesson['name']}/{part['file']}" for lesson in manifest["lesson"] for part in lesson["part"]}


def telling_text(exercise):
    """All that the report says of an exercise."""
    lines = [exercise["status"], exercise.get("note", "")]
    for test in exercise["tests"]:
        lines += test["messages"]
    return "\n".join(lines)


def problems_of_report(entry, report, shown):
    """What is not as it should be in the points and the words of a report. `shown`: on the terminal."""
    problems = []
    for exercise in report["exercises"]:
        expected = entry.expected(exercise)
        if exercise["points"] != expected:
            problems.append(f"{exercise['id']} earns {exercise['points']}, expected {expected}\n{telling_text(exercise)}")
        if exercise["id"] == entry.part and exercise["status"] == "does not compile" and entry.data.get("compiles", True):
            problems.append("does not compile")
        said = telling_text(exercise) + (shown if entry.kind == "packages" else "")
        if exercise["id"] == entry.part and not entry.says.search(said):
            problems.append(f"nothing says /{entry.says.pattern}/ but\n{said}")
    return problems


def problems_of_page(entry, page):
    """What is not as it should be on the student's page."""
    problems = [] if entry.shows.search(page) else [f"the page does not show /{entry.shows.pattern}/"]
    if "<script" in page:
        problems.append("a script on the page")
    if len(page) > MOST_PAGE:
        problems.append(f"a page of {len(page)} bytes")
    return problems


def foreign_characters(text):
    """What a terminal or a page would take for a command, in a text that is shown as it is."""
    return sorted({f"U+{ord(c):04X}" for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160})


def grade(entry, build, options):
    """The problems of one submission, how long it took, and what the report said."""
    with tempfile.TemporaryDirectory(prefix="grade-corpus-") as place:
        folder = pathlib.Path(place)
        temporary = folder / "tmp"
        temporary.mkdir()
        folder.chmod(0o711)  # whom the sandbox runs as must reach what is lent to it
        submission = entry.write(folder)
        report = folder / "report.json"
        page = folder / "report.html"
        begin = time.monotonic()
        try:
            ended = subprocess.run(
                [build / "shardlings", "grade", submission, "--build", build, "--json", report, "--html", page, *options],
                cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)}, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=10 * LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return [f"no verdict after {10 * LIMIT:.0f} s"], 10 * LIMIT, ""
        seconds = time.monotonic() - begin
        shown = ended.stdout.decode(errors="surrogateescape")
        if not report.exists():
            return [f"no report, exit code {ended.returncode}\n{shown[-2000:]}"], seconds, ""
        text = report.read_text(errors="surrogateescape")
        data = json.loads(text)
        said = next(telling_text(e) for e in data["exercises"] if e["id"] == entry.part)
        problems = problems_of_report(entry, data, shown)
        if not data["tamper_proof"] and entry.kind != "packages":
            problems.append("not judged in a sandbox")
        if seconds > entry.limit and entry.kind != "honest":
            problems.append(f"took {seconds:.1f} s, expected at most {entry.limit:.0f}")
        if len(text) > MOST_REPORT or len(shown) > MOST_REPORT:
            problems.append(f"a report of {len(text)} bytes and {len(shown)} on the terminal")
        for where, characters in (("terminal", foreign_characters(shown)), ("report", foreign_characters(said))):
            if characters:
                problems.append(f"control characters on the {where}: {' '.join(characters)}")
        if page.exists():
            problems += problems_of_page(entry, page.read_text(errors="surrogateescape"))
        left = [str(path.relative_to(folder)) for path in temporary.iterdir()]
        if left:
            problems.append(f"left behind: {' '.join(left[:5])}")
        return problems, seconds, said


def left_behind(build):
    """Processes and files of attacks that are still there, or of the grader that are no more needed."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes() + (process / "comm").read_bytes()
        except OSError:
            continue  # it has ended
        if TELLTALE[:15].encode() in words or f"{build}/drivers/submission".encode() in words:
            found.append(f"process {process.name}: {words[:80].decode(errors='replace')}")
    for place in PLACES:
        found += [str(path) for path in pathlib.Path(place).glob(f"*{TELLTALE}*")]
    for part in ("", "obj", "drivers", "reports"):
        folder = build / part / "submission"
        found += [str(path) for path in folder.iterdir()] if folder.is_dir() else []
    return found


def show(entry, problems, seconds, said, verbose):
    """One line for a submission, and what is wrong with it."""
    lines = said.splitlines() or [""]
    line = next((line for line in lines if entry.says.pattern and entry.says.search(line)), lines[0])
    print(f"{'FAILED' if problems else 'ok    '} {seconds:5.1f} s  {entry.name:<44} {line[:110]}")
    for problem in problems:
        print("\n".join("          " + part for part in problem.splitlines()[:40]))
    if verbose:
        print("\n".join("          | " + part for part in said.splitlines()[:40]))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="all that each report says")
    parser.add_argument("--source", action="store_true", help="print the sources instead of grading them")
    parser.add_argument("--option", action="append", default=[], help="for shardlings grade")
    arguments = parser.parse_intermixed_args()
    build = arguments.build.resolve()
    parts = files_of_parts()
    entries = [Entry(file, parts) for kind in KINDS for file in sorted((HERE / kind).glob("*.toml"))]
    solution = ROOT / "solutions" / parts[packages.PART]
    entries += [Package(name, solution) for name in packages.PACKAGES]
    entries = [entry for entry in entries if not arguments.words or any(w in entry.name for w in arguments.words)]
    if arguments.source:
        for entry in entries:
            print(entry.source())
        return 0
    probe = Entry(HERE / "honest" / "memory_by_helpers.toml", parts)
    problems, seconds, said = grade(probe, build, [])
    if problems:  # attacks are for a grader that works, and never run without a sandbox
        show(probe, problems, seconds, said, True)
        print(f"0 passed, {len(entries)} failed")
        return 1
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = {pool.submit(grade, entry, build, arguments.option): entry for entry in entries}
        for done in concurrent.futures.as_completed(running):
            problems, seconds, said = done.result()
            show(running[done], problems, seconds, said, arguments.show)
            passed += not problems
    left = left_behind(build)
    print(f"{'FAILED' if left else 'ok    '}          nothing left behind {' '.join(left)}")
    passed += not left
    print(f"{passed} passed, {len(entries) + 1 - passed} failed")
    return 0 if passed == len(entries) + 1 else 1


if __name__ == "__main__":
    sys.exit(main())
