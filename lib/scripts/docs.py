#!/usr/bin/env python3
"""Fills the code excerpts and transcripts of Markdown files, or checks that they are what they should be.

    lib/scripts/docs.py FILE.md...           fill the blocks in place
    lib/scripts/docs.py --check FILE.md...   print a diff where a block differs, run the commands; exit 1 then

Everything runs from the root of the repository, after `make all`. The blocks, each a fence right below its comment
(blank lines between are fine):

    <!-- include: FILE -->             the whole file
    <!-- include: FILE NAME -->        the first of these that FILE has, without its indentation:
                                         the lines between "BEGIN SOLUTION PART NAME" and "END SOLUTION",
                                         the lines between "BEGIN NAME" and "END NAME",
                                         NAME = '''...''' (TOML: the text of a planted bug),
                                         the declaration or definition of NAME with its doc comment
    <!-- run: COMMAND -->              what COMMAND (a bash line) prints, errors too; it must exit with 0
    <!-- run fails: COMMAND -->        the same for a command that must exit with something else

A ```sh fence is a script for the reader: --check runs it with bash -e, and it must exit with 0. A file in the
repository that a command writes (a picture beside the page) must come out as it is committed: --check compares that.
A ```cpp or ```console fence must be filled by one of the comments above: nothing is pasted.
    <!-- shown only: REASON -->        above a ```sh fence: it is not run (it installs, downloads, waits for the reader)
Other languages (text, none) are free: formulas, pseudocode, diagrams.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"^<!-- (include|run|run fails|shown only): (.+) -->$")
FENCE = re.compile(r"^(`{3,})(\w*)$")
LIMIT_SECONDS = 300


class DocsError(Exception):
    """Something in a page that only its author can mend."""


def between(lines, begin, end):
    """The lines between the first that matches `begin` and the next that matches `end`, or None."""
    first = next((i for i, line in enumerate(lines) if re.search(begin, line)), None)
    if first is None:
        return None
    last = next((i for i in range(first + 1, len(lines)) if re.search(end, lines[i])), None)
    return None if last is None else lines[first + 1 : last]


def toml_text(text, name):
    found = re.search(rf"^{name}\s*=\s*('''|\"\"\")\n?(.*?)\1", text, re.DOTALL | re.MULTILINE)
    return found and found.group(2).splitlines()


def declaration(lines, name):
    """From the doc comment above the first line that declares `name` to its `;` or closing brace."""
    starts = re.compile(rf"^(?:[\w:<>,*&\s\[\]]+\b)?{name}\(|^\s*(?:struct|class|enum class) {name}\b(?!.*;)")
    first = next((i for i, line in enumerate(lines) if starts.search(line) and "//" not in line.split(name)[0]), None)
    if first is None:
        return None
    depth, last = 0, first
    for last in range(first, len(lines)):
        code = lines[last].split("//")[0].rstrip()
        depth += sum(code.count(c) for c in "({") - sum(code.count(c) for c in ")}")
        if depth == 0 and code.endswith((";", "}")):
            break
    while first > 0 and lines[first - 1].lstrip().startswith("//"):
        first -= 1
    return lines[first : last + 1]


def include(argument):
    file, _, name = argument.partition(" ")
    try:
        text = (ROOT / file).read_text(encoding="utf-8")
    except OSError as error:
        raise DocsError(f"include: {error}") from error
    lines = text.splitlines()
    word = re.escape(name)
    found = lines if not name else (
        between(lines, rf"BEGIN SOLUTION \S+ {word}\s*$", r"END SOLUTION")
        or between(lines, rf"BEGIN {word}\s*$", rf"END {word}\s*$")
        or toml_text(text, word)
        or declaration(lines, word)
    )
    if not found:
        raise DocsError(f"include: {file} holds no {name}")
    return textwrap.dedent("\n".join(found)).strip("\n")


def bash(script, *options):
    """Exit code and all output of a script run at the root."""
    environment = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb")
    try:
        done = subprocess.run(["bash", *options, "-c", script], cwd=ROOT, env=environment, timeout=LIMIT_SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", errors="replace", check=False)
    except subprocess.TimeoutExpired as error:
        raise DocsError(f"'{script}' did not end within {LIMIT_SECONDS} s") from error
    return done.returncode, done.stdout


def run(command, must_fail):
    code, output = bash(command)
    if (code != 0) != must_fail:
        raise DocsError(f"'{command}' exited with {code}:\n{output}")
    return "\n".join(line.rstrip() for line in output.strip("\n").split("\n"))


def content_of(kind, argument):
    return include(argument) if kind == "include" else run(argument, must_fail=kind == "run fails")


def blocks(lines):
    """(comment or None, language, first line of the content, its end) of every fence."""
    comment, fence, begin = None, None, 0
    for number, line in enumerate(lines):
        opened = FENCE.match(line)
        if fence is None and opened:
            fence, begin = opened, number + 1
        elif fence is not None and line == fence.group(1):
            yield comment, fence.group(2), begin, number
            comment, fence = None, None
        elif fence is None and COMMENT.match(line):
            if comment:
                raise DocsError(f"line {number + 1}: no block follows the comment above this one")
            comment = COMMENT.match(line)
        elif fence is None and comment and line.strip():
            raise DocsError(f"line {number + 1}: a block must follow <!-- {comment.group(1)}: … -->")
    if fence is not None or comment is not None:
        raise DocsError("the last block is not closed, or missing")


def page(path, check):
    """The page with its blocks filled; with `check`, also runs the commands it shows."""
    lines = path.read_text(encoding="utf-8").split("\n")
    filled, copied = [], 0
    for comment, language, begin, end in blocks(lines):
        kind, argument = comment.groups() if comment else (None, None)
        if kind not in (None, "shown only"):
            filled += lines[copied:begin] + content_of(kind, argument).split("\n")
            copied = end
        elif language in ("cpp", "console"):
            raise DocsError(f"line {begin}: a {language} block without <!-- include: … --> or <!-- run: … -->")
        elif language == "sh" and kind is None and check:
            code, output = bash("\n".join(lines[begin:end]), "-e")
            if code != 0:
                raise DocsError(f"line {begin}: these commands exited with {code}:\n{output}")
    return "\n".join(filled + lines[copied:])


def tracked_changes():
    """What differs from the last commit, so that a command that rewrites a committed picture differently shows."""
    code, output = bash("git diff HEAD --stat")
    return output if code == 0 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.md")
    options = parser.parse_args()
    good, changes = True, tracked_changes()
    for path in options.files:
        try:
            before, after = path.read_text(encoding="utf-8"), page(path, options.check)
        except (DocsError, OSError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            good = False
            continue
        if not options.check:
            path.write_text(after, encoding="utf-8")
        elif before != after:
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True),
                                                       f"{path} as it is", f"{path} as it should be"))
            good = False
    if options.check and tracked_changes() != changes:
        print(f"a command rewrote a committed file differently:\n{tracked_changes()}", file=sys.stderr)
        good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
