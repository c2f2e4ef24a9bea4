#!/usr/bin/env python3
"""Executes the notebooks without a browser, and looks at what they show: run.py [--write] [NOTEBOOK...]

A notebook passes when no cell fails, every picture shows something, and the outputs are those that are committed.
Outputs are compared as text: streams, tables, and the words that stand with each picture and say what it draws
(pictures.py), because pixels change with the version of matplotlib and its fonts, and drawn numbers do not. The
text must be the same, character by character but for runs of spaces; virtual time, bytes and messages are the
same on every machine. A notebook whose numbers come out of trained weights says in its metadata how far they may
be off, as sums depend on the processor's matrix products: {"shardlings": {"relative": 0.02, "absolute": 0.01}}.

--write stores the outputs, without times, counts of other machines, or paths.
Ends with "N passed, N failed"; exit status 1 when one failed.
"""

import argparse
import os
import pathlib
import re
import sys
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from pictures import is_empty  # noqa: E402

os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a warning of ipykernel's that helps nobody here
SECONDS_OF_A_CELL = 600
MOST_BYTES = 300_000
NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")


def text_of(output):
    """What of an output is compared."""
    if output.output_type == "stream":
        return output.text
    return "".join(output.data.get("text/plain", "")) if "data" in output else ""


def pictures_of(cell):
    return [output.data["image/png"] for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]


def shown(cell):
    """The text of all outputs of a cell, a space for any run of spaces."""
    text = "\n".join(text_of(output) for output in cell.get("outputs", []))
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def agree(expected, got, relative=0.0, absolute=0.0):
    """True for two lines that are the same but for numbers, which may be off by as much."""
    if expected == got:
        return True
    if NUMBER.sub("#", expected) != NUMBER.sub("#", got):
        return False
    pairs = zip(NUMBER.findall(expected), NUMBER.findall(got))
    values = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= max(relative * abs(a), absolute) for a, b in values)


def differences(committed, executed, tolerance):
    """What a reader would find changed: lines of text."""
    result = []
    cells = [cell for cell in zip(committed.cells, executed.cells) if cell[0].cell_type == "code"]
    for number, (old, new) in enumerate(cells, start=1):
        before, after = shown(old), shown(new)
        if len(before) != len(after):
            result.append(f"code cell {number} shows {len(after)} lines of text, {len(before)} are committed")
        for a, b in zip(before, after):
            if not agree(a, b, **tolerance):
                result.append(f"code cell {number}: committed is\n      {a}\n    and now it is\n      {b}")
        if len(pictures_of(old)) != len(pictures_of(new)):
            result.append(f"code cell {number} shows {len(pictures_of(new))} pictures, "
                          f"{len(pictures_of(old))} are committed")
    return result


def flaws(notebook, size):
    """What is wrong with a notebook by itself."""
    result = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        result += [f"code cell {number}: a picture is empty" for png in pictures_of(cell) if is_empty(png)]
        result += [f"code cell {number}: a picture is not shown by sh.show, which looks at what is drawn"
                   for output in cell.outputs
                   if "image/png" in output.get("data", {}) and not text_of(output).startswith("Picture: ")]
        if any(output.output_type == "error" for output in cell.outputs):
            result.append(f"code cell {number} shows an error")
        html = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell.outputs)
        if str(HERE.parent) in html + "\n".join(shown(cell)):
            result.append(f"code cell {number} shows a path of this machine")
    if not any(pictures_of(cell) for cell in code):
        result.append("it has no picture")
    if size > MOST_BYTES:
        result.append(f"it has {size} bytes: expected up to {MOST_BYTES}")
    return result


def execute(notebook):
    """A copy with the outputs of now, and nothing of when and where they were made. Error when a cell fails."""
    copy = nbformat.from_dict(notebook)
    client = NotebookClient(copy, timeout=SECONDS_OF_A_CELL, kernel_name="python3", record_timing=False,
                            resources={"metadata": {"path": str(HERE)}})
    client.execute()
    kept = {"shardlings": copy.metadata["shardlings"]} if "shardlings" in copy.metadata else {}
    copy.metadata = nbformat.from_dict({
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"file_extension": ".py", "name": "python"}, **kept})
    for cell in copy.cells:
        cell.metadata = nbformat.from_dict({})
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = nbformat.from_dict({})
            output.pop("transient", None)
    return copy


def judge(file, write):
    """What is wrong with a notebook's file, after it was executed; with `write` it is as executed."""
    committed = nbformat.read(file, as_version=4)
    try:
        executed = execute(nbformat.from_dict(committed))
    except (CellExecutionError, CellTimeoutError) as error:
        return [f"a cell fails:\n{error}"], 0
    text = nbformat.writes(executed) + "\n"
    found = flaws(executed, len(text))
    if write:
        file.write_text(text)
    else:
        found += differences(committed, executed, committed.metadata.get("shardlings", {}))
    return found, sum(len(pictures_of(cell)) for cell in executed.cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store the outputs in place of comparing them")
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path, metavar="NOTEBOOK")
    arguments = parser.parse_args()
    files = arguments.notebooks or sorted(HERE.glob("*.ipynb"))
    failed = 0
    for file in files:
        begin = time.monotonic()
        found, pictures = judge(file, arguments.write)
        failed += bool(found)
        print(f"{file.name:<32} {'FAILED' if found else 'ok':<8}{pictures} pictures"
              f"{time.monotonic() - begin:>8.0f} s", flush=True)
        for one in found:
            print(f"    {one}")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
