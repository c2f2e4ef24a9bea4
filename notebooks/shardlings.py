"""What the notebooks share: the programs' figures as tables, and one style for all pictures.

    import shardlings as sh
    sh.ready()                                        # builds build/shardlings where it is missing
    sh.run("schedule", "--pp", 4)                     # the JSON that a subcommand writes
    sh.steps("--layers 4 --batch 8", ["--dp 2", "--dp 4 --zero 3"])    # many layouts in one launch, as a table
    sh.show(figure)                                   # the picture, and in words what is drawn
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pandas
from IPython.display import clear_output, display
from matplotlib import pyplot as plt

from pictures import describe, png, style

style()


class Told(RuntimeError):
    """Something for the reader: a notebook shows the message alone, without a traceback."""

    def _render_traceback_(self):
        return [str(self)]


class CannotRun(Told):
    """The programs cannot be built or run here."""


class Refused(Told):
    """A program does not take what it was given, or failed."""


STORED = ("What each cell showed when it was last executed is stored in the notebook: read it without running the cells.\n"
          "(Where they are empty now: `git checkout notebooks`, and open it again.)")
LINES_OF_AN_ERROR = 4  # the compiler's or linker's own words; what follows from them is left out


def root():
    """The repository's folder, found above this file."""
    for folder in pathlib.Path(__file__).resolve().parents:
        if (folder / "Makefile").exists() and (folder / "solutions").is_dir():
            return folder
    raise CannotRun(f"The programs cannot run here: this is not inside the project's folder. {STORED}")


def _first_errors(output):
    """The first lines that say what is wrong, indented."""
    lines = list(dict.fromkeys(line for line in output.splitlines() if line.strip()))
    telling = [line for line in lines if re.search(r"\berror\b|not found|No such file|No rule", line)]
    return "\n".join(f"    {line}" for line in (telling or lines[-LINES_OF_AN_ERROR:])[:LINES_OF_AN_ERROR])


def _program():
    missing = [tool for tool in ("make", "mpirun") if shutil.which(tool) is None]
    if missing:
        raise CannotRun(f"The programs cannot run here: there is no {' and no '.join(missing)}. {STORED}")
    program = root() / "build" / "shardlings"
    if not program.exists():
        print("Building the programs; the first time that takes minutes.")
    jobs = os.cpu_count() or 2
    built = subprocess.run(["make", "-C", str(root()), f"-j{jobs}", "build/shardlings"], capture_output=True, text=True)
    if built.returncode != 0:
        raise CannotRun(f"The programs cannot be built here:\n{_first_errors(built.stdout + built.stderr)}\n{STORED}")
    clear_output()
    return program


_built = None


def program():
    """The path of build/shardlings, made when it is missing or older than its sources."""
    global _built
    _built = _built or _program()
    return _built


def ready():
    """Builds the programs. Where that cannot be, says why, and "Run All" ends here."""
    program()
    print("The programs are built: run the cells, change them, run them again.")


def run(*arguments):
    """Runs `build/shardlings ARGUMENTS --json FILE` in the repository's folder; returns what FILE holds."""
    words = [word for argument in arguments for word in str(argument).split()]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "figures.json"
        command = [str(program()), *words, "--json", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=root())
        if not file.exists():
            raise Refused(f"shardlings {' '.join(words)}\n{(done.stderr or done.stdout).strip()[-2000:]}")
        return json.loads(file.read_text())


def reports(common, runs):
    """Trains as `common` and each of `runs` say (flags of `shardlings train`; one step unless they say
    otherwise), all in one launch. Returns a report each, as `train --json` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "runs"
        file.write_text("".join(f"{common} {one}\n" for one in runs))
        try:
            return run("measure steps", file)
        except Refused as refused:
            _, _, reason = str(refused).partition("\n")
            line = re.search(rf"{re.escape(str(file))}, line (\d+): ", reason)
            flags = f"{common} {runs[int(line[1]) - 1]}" if line else f"{common}, with each of {list(runs)}"
            raise Refused(f"shardlings train {flags}\n{reason.replace(line[0], '') if line else reason}") from None


def row(report):
    """The last step of a run, in bytes and seconds: of memory and traffic what the device with most has."""
    config, ranks, history = report["config"], report["ranks"], report["steps"]
    begin = history[-2]["virtual_seconds"] if len(history) > 1 else 0.0
    seconds = history[-1]["virtual_seconds"] - begin
    busy = sum(rank["last_step"]["busy_seconds"] for rank in ranks) / len(ranks)
    result = {name: config[name] for name in ("pp", "dp", "tp", "zero", "microbatches", "parameters")}
    result |= {"seconds": seconds, "busy": busy / seconds, "exposed": max(r["last_step"]["exposed_seconds"] for r in ranks)}
    for name in ranks[0]["memory"]:
        if name != "budget":
            result[name] = max(rank["memory"][name] for rank in ranks)
    for group in ("data_parallel", "tensor_parallel", "pipeline"):
        result[f"sent_{group}"] = max(rank[f"sent_{group}"]["bytes"] for rank in ranks)
    result["sent"] = max(rank["sent"]["bytes"] for rank in ranks)
    result["between_nodes"] = sum(rank["sent"]["inter_node_bytes"] for rank in ranks)
    return result


def devices(report):
    """The devices of a run as a table: coordinates, memory and what each sent, in bytes."""
    return pandas.DataFrame([
        {"rank": rank["rank"], **rank["coordinates"], **rank["memory"], "sent": rank["sent"]["bytes"],
         "between_nodes": rank["sent"]["inter_node_bytes"]} for rank in report["ranks"]])


def steps(common, runs):
    """`reports` as a table, a row a run: see `row` for its columns."""
    return pandas.DataFrame([row(report) for report in reports(common, runs)])


def collectives(topologies, sizes):
    """Lesson 03's all-reduces and broadcasts on clusters like "2x4", vectors of `sizes` bytes: a row each."""
    return pandas.DataFrame(
        run("measure collectives", *topologies, "--bytes", ",".join(str(int(size)) for size in sizes)))


def table(frame, formats=None):
    """Shows a table: columns by name, numbers by `formats`, like {"time in µs": "{:.1f}"}."""
    text = frame.copy()
    for column, form in (formats or {}).items():
        text[column] = [form.format(value) for value in frame[column]]
    display({"text/html": text.to_html(index=False, border=0), "text/plain": text.to_string(index=False)}, raw=True)


def show(figure, noise=False):
    """Shows a picture as PNG, and as text what it draws: for readers who do not see it, and for `make notebooks`,
    which compares the drawn numbers and not the pixels. `noise`: what is drawn are rounding errors, which
    every processor makes its own; they are left out of the text. Error when nothing is drawn."""
    words = describe(figure, noise)
    display({"image/png": png(figure), "text/plain": words}, raw=True)
    plt.close(figure)
