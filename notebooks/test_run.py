"""What run.py must find, and what it must not mind."""

import base64
import io
import os
import subprocess
import sys
import unittest
from unittest import mock

import nbformat
import numpy
from matplotlib import pyplot as plt
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

import pictures
import run
import shardlings as sh


def notebook_of(*outputs):
    cell = new_code_cell("pass")
    cell.outputs = list(outputs)
    return new_notebook(cells=[cell])


def stream(text):
    return new_output("stream", name="stdout", text=text)


def picture_of(figure, words="Picture: t (y over x)"):
    return new_output("display_data", data={"image/png": pictures.png(figure), "text/plain": words})


def pixels_of(image):
    return numpy.asarray(image.convert("RGB"), dtype=int)


def a_line():
    figure, axes = plt.subplots()
    axes.plot([1, 2, 4])
    axes.set(title="t", xlabel="x", ylabel="y")
    return figure


def setUpModule():
    pictures.style()


EXACT = {}


class Differences(unittest.TestCase):
    def found(self, before, after, tolerance=EXACT):
        return run.differences(notebook_of(stream(before)), notebook_of(stream(after)), tolerance)

    def test_the_same(self):
        self.assertEqual(self.found("loss  1.5\n", "loss 1.5\n"), [])

    def test_another_number(self):
        self.assertEqual(len(self.found("loss 1.500\n", "loss 1.501\n")), 1)

    def test_another_number_within_the_tolerance(self):
        self.assertEqual(self.found("loss 1.500\n", "loss 1.501\n", {"relative": 0.001}), [])
        self.assertEqual(len(self.found("loss 1.500\n", "loss 1.503\n", {"relative": 0.001})), 1)

    def test_another_word_is_beyond_any_tolerance(self):
        self.assertEqual(len(self.found("fits 3\n", "fails 3\n", {"relative": 1.0, "absolute": 9.0})), 1)

    def test_a_line_less(self):
        self.assertEqual(len(self.found("a\nb\n", "a\n")), 1)

    def test_a_picture_less(self):
        with_picture = notebook_of(picture_of(a_line(), ""))
        self.assertEqual(len(run.differences(with_picture, notebook_of(stream("")), EXACT)), 1)


class Flaws(unittest.TestCase):
    def test_none(self):
        self.assertEqual(run.flaws(notebook_of(picture_of(a_line())), 1000), [])

    def test_an_empty_picture(self):
        figure, axes = plt.subplots()
        axes.axis("off")
        self.assertEqual(run.flaws(notebook_of(picture_of(figure)), 1000), ["code cell 1: a picture is empty"])

    def test_a_picture_without_words(self):
        self.assertEqual(run.flaws(notebook_of(picture_of(a_line(), "<Figure>")), 1000),
                         ["code cell 1: a picture is not shown by sh.show, which looks at what is drawn"])

    def test_axes_without_a_line(self):
        figure, axes = plt.subplots()
        axes.grid(False)
        self.assertTrue(pictures.is_empty(pictures.png(figure)))

    def test_an_error_a_path_no_picture_and_too_many_bytes(self):
        error = new_output("error", ename="E", evalue="v", traceback=[])
        found = run.flaws(notebook_of(error, stream(str(run.HERE.parent) + "/build")), 10**6)
        self.assertEqual(len(found), 4, found)


class Pixels(unittest.TestCase):
    def test_few_colours_are_enough(self):
        figure, axes = plt.subplots(figsize=(8.5, 4.2))
        for place, marker in enumerate("os^D"):
            axes.plot([1, 2, 3], [place, place / 2, 1], linestyle="", marker=marker, label=marker)
        axes.set(title="four kinds of points", xlabel="x", ylabel="y")
        axes.legend()
        whole = io.BytesIO()
        figure.savefig(whole, format="png")
        kept = Image.open(io.BytesIO(base64.b64decode(pictures.png(figure))))
        # Of 255; a quarter of what the nearest two colours of the palette, blue and green, are apart.
        self.assertLess(abs(pixels_of(kept) - pixels_of(Image.open(whole))).max(), 16)


class Words(unittest.TestCase):
    def test_what_is_drawn(self):
        self.assertEqual(pictures.describe(a_line()), "Picture: t (y over x)\n  line: 3 numbers, 1 to 4, sum 7")

    def test_noise_has_no_numbers(self):
        self.assertEqual(pictures.describe(a_line(), noise=True), "Picture: t (y over x)\n  line: 3 numbers")

    def test_nothing_drawn(self):
        figure, axes = plt.subplots()
        axes.set(xlabel="x", ylabel="y")
        self.assertRaisesRegex(ValueError, "draws nothing", pictures.describe, figure)

    def test_no_label(self):
        figure, axes = plt.subplots()
        axes.plot([1, 2])
        self.assertRaisesRegex(ValueError, "no label", pictures.describe, figure)


class Execution(unittest.TestCase):
    def test_a_cell_that_fails(self):
        failing = new_notebook(cells=[new_code_cell("1 / 0")])
        self.assertRaises(run.CellExecutionError, run.execute, failing)

    def test_nothing_of_this_run_is_kept(self):
        source = new_notebook(cells=[new_code_cell("print(1)")], metadata={"shardlings": {"relative": 0.5}})
        executed = run.execute(nbformat.from_dict(source))
        self.assertEqual(executed.cells[0].metadata, {})
        self.assertEqual(executed.metadata["shardlings"], {"relative": 0.5})
        self.assertEqual(executed.metadata["language_info"], {"file_extension": ".py", "name": "python"})
        self.assertEqual(run.shown(executed.cells[0]), ["1"])


class Committed(unittest.TestCase):
    def test_any_reader_can_show_them(self):
        """Format 4.5, which Jupyter and VS Code have; no script, no widget, nothing that an extension must draw."""
        for file in sorted(run.HERE.glob("*.ipynb")):
            with self.subTest(file.name):
                notebook = nbformat.read(file, as_version=nbformat.NO_CONVERT)
                self.assertEqual((notebook.nbformat, notebook.nbformat_minor), (4, 5))
                nbformat.validate(notebook)
                outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
                data = [output.data for output in outputs if "data" in output]
                self.assertLessEqual({kind for one in data for kind in one}, {"image/png", "text/html", "text/plain"})
                self.assertFalse([one for one in data if "<script" in one.get("text/html", "")])


class Helper(unittest.TestCase):
    """What shardlings.py says when something cannot be."""

    def test_no_programs(self):
        with mock.patch.dict(os.environ, PATH=""), mock.patch.object(sh, "_built", None):
            for call in (sh.ready, lambda: sh.run("count")):
                with self.assertRaisesRegex(sh.CannotRun, "there is no make and no mpirun. What each cell") as caught:
                    call()
                self.assertEqual(caught.exception._render_traceback_(), [str(caught.exception)])

    def test_no_compiler(self):
        errors = "make: g++: No such file\nmake: *** Error 127\n" * 9
        failed = subprocess.CompletedProcess([], 2, "  compile a.cpp\n", errors)
        with mock.patch.object(sh, "_built", None), mock.patch.object(subprocess, "run", return_value=failed):
            with self.assertRaises(sh.CannotRun) as caught:
                sh.program()
        self.assertEqual(str(caught.exception),
                         f"The programs cannot be built here:\n    make: g++: No such file\n{sh.STORED}")

    def test_a_layout_that_is_refused_is_named(self):
        with self.assertRaises(sh.Refused) as caught:
            sh.reports("--batch 8 --seq 16 --data LICENSE", ["--dp 2", "--dp 3"])
        self.assertRegex(str(caught.exception),
                         "^shardlings train --batch 8 --seq 16 --data LICENSE --dp 3\nshardlings: --batch 8 cannot")

    def test_a_kernel_in_the_folder_above(self):
        first = [next(cell.source for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "code")
                 for file in sorted(run.HERE.glob("*.ipynb"))]
        imports = {source[source.index("sys.path"):source.index("as sh")] for source in first}
        self.assertEqual(len(imports), 1, imports)
        done = subprocess.run([sys.executable, "-c", first[0]], cwd=run.HERE.parent, capture_output=True, text=True)
        self.assertIn("The programs are built", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
