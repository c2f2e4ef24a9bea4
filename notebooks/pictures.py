"""The style of the pictures, and what is drawn in them, in words."""

import base64
import io

import matplotlib
import numpy
from cycler import cycler
from matplotlib import pyplot as plt
from PIL import Image

# Okabe and Ito's colours, which stay apart for colour-blind eyes; lines differ by marker and dashes, too.
BLUE, ORANGE, GREEN, RED, SKY, PURPLE, YELLOW, BLACK = COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":", "-", "--", "-.", ":")


def style():
    """One style for all notebooks."""
    matplotlib.use("agg")
    plt.rcdefaults()
    plt.rcParams.update({
        "figure.figsize": (7.5, 3.6), "figure.dpi": 90, "figure.constrained_layout.use": True,
        "axes.prop_cycle": cycler(color=COLOURS) + cycler(marker=MARKERS) + cycler(linestyle=DASHES),
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3,
        "axes.axisbelow": True, "lines.markersize": 5, "lines.linewidth": 1.6, "font.size": 10,
        "legend.frameon": False, "legend.fontsize": 9,
    })


def _numbers(values, noise=False):
    """"9 numbers, 0 to 1, sum 3.5", with four digits; of noise only how many."""
    numbers = numpy.asarray(values, dtype=float).ravel()
    finite = numbers[numpy.isfinite(numbers)]
    if finite.size == 0:
        return "no numbers"
    if noise:
        return f"{finite.size} numbers"
    low, high, total = (f"{value:.4g}" for value in (finite.min(), finite.max(), finite.sum()))
    return f"{finite.size} numbers, {low} to {high}, sum {total}"


def _name(artist):
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else f' "{label}"'


def drawn(axes, noise=False):
    """What an axes draws: a line of text for each line, group of bars and image."""
    result = []
    for line in axes.get_lines():
        if len(line.get_xdata()) > 0:
            result.append(f"line{_name(line)}: {_numbers(line.get_ydata(), noise)}")
    for bars in axes.containers:
        upright = bars.orientation != "horizontal"
        lengths = [patch.get_height() if upright else patch.get_width() for patch in bars.patches]
        result.append(f"bars{_name(bars)}: {_numbers(lengths, noise)}")
    for image in axes.get_images():
        result.append(f"image: {_numbers(image.get_array(), noise)}")
    for points in axes.collections:
        if len(points.get_offsets()) > 0:
            result.append(f"points{_name(points)}: {_numbers(points.get_offsets(), noise)}")
    return result


def describe(figure, noise=False):
    """The picture in words: titles, axes, and the numbers of what is drawn. Error for an axes that draws nothing
    or has no label. `noise`: without numbers that are rounding errors, as every processor makes its own."""
    words = []
    for axes in figure.axes:
        if axes.get_label() == "<colorbar>" or not axes.axison:
            continue
        content = drawn(axes, noise)
        if not content:
            raise ValueError(f"the axes {axes.get_title()!r} draws nothing")
        if not (axes.get_xlabel() and axes.get_ylabel()):
            raise ValueError(f"the axes {axes.get_title()!r} has no label at one of its sides")
        words.append(f"Picture: {axes.get_title()} ({axes.get_ylabel()} over {axes.get_xlabel()})")
        words += [f"  {line}" for line in content]
    if not words:
        raise ValueError("the picture has no axes")
    return "\n".join(words)


def png(figure):
    """As text, as notebooks hold it, in 64 colours, a third of the bytes, chosen so that rare ones (a marker's) keep
    apart. No date and no program's name in it."""
    data = io.BytesIO()
    figure.savefig(data, format="png")
    small = io.BytesIO()
    Image.open(data).convert("RGB").quantize(64, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        small, format="png", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


def is_empty(png_text):
    """True for a picture of which less than 2 % of the pixels are not as its first: those of a frame and its labels
    are 0.9 %. The emptiest of the notebooks' has 3.9 %."""
    image = Image.open(io.BytesIO(base64.b64decode(png_text))).convert("RGB")
    pixels = numpy.asarray(image, dtype=float)
    return float((abs(pixels - pixels[0, 0]).max(axis=-1) > 5).mean()) < 0.02
