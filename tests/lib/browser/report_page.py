"""What the page of shardlings train --report shows, in a browser: report_page.py FOLDER, with report_test.sh's files."""

import json
import os
import re
import sys

from browser import Browser
from enlarge import enlarged
from labels import test_labels

FOLDER = sys.argv[1]
passed = failed = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("FAILED ", what)


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def page_data(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


def four_digits(number):
    return f"{number:.4g}"


def bytes_text(count):
    unit = 0
    value = float(count)
    while value >= 1024 and unit < 4:
        value, unit = value / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{four_digits(value)} {['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}"


PANELS = ["summary", "loss", "layout", "timeline", "memory", "traffic"]


def test_numbers(browser, run, baseline):
    """The page's numbers are the run's."""
    data = page_data(read("run.html"))
    check(data["ranks"] == run["ranks"], "the ranks' figures are those of --json")
    check(data["config"] == run["config"], "the configuration is that of --json")
    for name in ("step", "loss", "grad_norm", "virtual_seconds"):
        check(data["steps"][name] == [step[name] for step in run["steps"]], f"{name} of every step is that of --json")
    check(data["baseline"]["steps"]["loss"] == [step["loss"] for step in baseline["steps"]], "the baseline's losses")
    last = run["steps"][-1]
    check(browser.text("final-loss") == f"{last['loss']:.6g}", f"final loss: {browser.text('final-loss')}")
    peak = max(rank["memory"]["peak"] for rank in run["ranks"])
    check(browser.text("peak-memory") == bytes_text(peak), f"peak memory: {browser.text('peak-memory')}, not {bytes_text(peak)}")
    check(browser.text("sent") == bytes_text(sum(rank["sent"]["bytes"] for rank in run["ranks"])), f"sent: {browser.text('sent')}")
    step = last["virtual_seconds"] - run["steps"][-2]["virtual_seconds"]
    idle = 100 * (1 - sum(rank["last_step"]["busy_seconds"] for rank in run["ranks"]) / step / len(run["ranks"]))
    check(browser.text("bubble") == f"{idle:.1f} %", f"bubble: {browser.text('bubble')}, not {idle:.1f} %")
    check(four_digits(last["virtual_seconds"] * 1e3) + " ms" == browser.text("virtual-time"), f"virtual time: {browser.text('virtual-time')}")
    for rank in run["ranks"]:
        check(rank["sent"]["bytes"] == sum(to["bytes"] for to in rank["sent_to"]), f"rank {rank['rank']}: what it sent to each is what it sent")
    # The last step is in the window, and of its idle time the picture has what the trainer counted.
    lasts = data["timeline"]["steps"][-1]
    shares = browser.value(f"[...Array({len(run['ranks'])}).keys()].map(rank => shardlings.idleShare(rank, {lasts[1]}, {lasts[2]}))")
    check(abs(100 * sum(shares) / len(shares) - idle) < 0.05, f"the timeline's bubble is {shares}, the summary's {idle}")
    memory = data["memory"]["ranks"][0]
    held = [sum(memory[i::7]) for i in range(1, 4)]
    figures = run["ranks"][0]["memory"]
    check(held == [figures["parameters"], figures["gradients"], figures["optimizer_states"]], "memory at the end is the run's")


def test_panels(browser):
    """Every panel has content, and nothing went wrong on the way."""
    for panel in PANELS:
        check(len(browser.text(panel).strip()) > 40, f"the panel {panel} has text")
    painted = browser.value("""(() => { const canvas = document.getElementById('timeline-canvas');
        const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        return new Set(pixels).size; })()""")
    check(painted > 20, f"the timeline is painted in {painted} colours")
    check(browser.value("document.querySelectorAll('#loss-chart circle').length") == 4, "a disc for every step's loss")
    check(browser.value("document.querySelectorAll('#loss-chart svg > rect').length") == 4, "a square for every step of the baseline")
    check(browser.value("document.querySelectorAll('#memory-chart path[data-category]').length") == 6, "an area for every category")
    check("budget 96 KiB" in browser.text("memory"), "the budget is named")
    check(browser.value("document.querySelectorAll('#layout-map .node').length") == 2, "two nodes")
    check(browser.value("document.querySelectorAll('#layout-map button').length") == 8, "eight devices")
    check("node 1" in browser.text("traffic-chart"), "the matrix marks its nodes")
    check(browser.value("document.querySelectorAll('#loss-table tbody tr').length") == 4, "a row for every step")
    check(browser.value("document.querySelectorAll('#traffic-table tbody tr').length") ==
          browser.value("shardlings.data.ranks.flatMap(rank => rank.sent_to).length"), "a row for every pair that sent")
    check("bubble: nothing computed" in browser.text("timeline-legend"), "the legend explains the bubble")
    same = page_data(read("same.html"))
    check(same["config"]["seed"] == 2 and same["baseline"]["steps"] == page_data(read("run.html"))["baseline"]["steps"],
          "a baseline that the run writes over is the one from before the run")
    check("others" not in browser.text("summary"), "the baseline learned the same")
    check(browser.problems == [], f"no errors: {browser.problems}")


def test_traffic(browser, run):
    """Every cell is what the run counted; the arrow keys go there."""
    sent = {(rank["rank"], to["rank"]): to["bytes"] for rank in run["ranks"] for to in rank["sent_to"] if to["bytes"]}
    shown = browser.value("[...document.querySelectorAll('#traffic-chart rect[data-bytes]')].map(cell => Number(cell.dataset.bytes))")
    check(sorted(shown) == sorted(sent.values()), "a cell for each pair of ranks, with its bytes")
    browser.focus("traffic-chart")
    for _ in range(4):
        browser.key("ArrowRight")
    text = browser.text("traffic-detail")
    check("rank 0 to rank 4, on another node" in text and bytes_text(sent[0, 4]) in text, f"the cell of ranks 0 and 4: {text}")


def window_of(browser):
    return browser.value("[shardlings.state.begin, shardlings.state.end]")


def test_keys(browser):
    """The timeline by keys alone."""
    browser.focus("timeline-chart")
    browser.key("0")
    whole = window_of(browser)
    before = browser.value("document.getElementById('timeline-canvas').toDataURL()")
    browser.key("+")
    half = window_of(browser)
    check(abs((half[1] - half[0]) * 2 - (whole[1] - whole[0])) < 1e-6 * whole[1], f"+ halves the window: {whole}, {half}")
    check(browser.value("document.getElementById('timeline-canvas').toDataURL()") != before, "and draws it")
    browser.key("ArrowRight", modifiers=8)
    check(window_of(browser)[0] > half[0], "Shift and the right arrow pan")
    browser.key("-")
    browser.key("-")
    check(window_of(browser) == whole, "- zooms out, as far as there is something")
    browser.key("Home")
    first = browser.text("timeline-detail")
    check(re.match(r"rank 0 \(pp 0, dp 0, tp 0\): .*begins at .*, takes .*", first), f"Home says the first instruction: {first}")
    browser.key("ArrowRight")
    second = browser.text("timeline-detail")
    check(second != first and second.startswith("rank 0"), f"the arrow goes to the next: {second}")
    browser.key("ArrowDown")
    check(browser.text("timeline-detail").startswith("rank 1 "), f"and down to the next rank: {browser.text('timeline-detail')}")
    check(browser.value("document.getElementById('memory-rank').value") == "1", "whose memory is shown")
    browser.key("l")
    check(" to rank " in browser.text("timeline-detail"), f"L goes to the sends: {browser.text('timeline-detail')}")
    browser.key("Enter")
    near = window_of(browser)
    check(near[1] - near[0] < (whole[1] - whole[0]) / 10, f"Enter zooms to it: {near}")
    browser.key("Escape")
    check(browser.text("timeline-detail") == "", "Esc lets go of it")
    for identifier, keys in (("loss-chart", "ArrowLeft"), ("memory-chart", "ArrowRight")):
        detail = identifier.replace("chart", "detail")
        before = browser.text(detail)
        browser.focus(identifier)
        browser.key(keys)
        check(browser.text(detail) != before, f"{keys} in {identifier} moves its cursor")
    check("baseline" in browser.text("loss-detail"), "the losses are beside the baseline's")


def test_focus_order(browser):
    """Tab goes through the panels from top to bottom and never gets caught."""
    browser.focus("loss-chart")
    seen = ["loss-chart"]
    for _ in range(14):
        browser.key("Tab")
        seen.append(browser.value("document.activeElement.id || document.activeElement.dataset.rank || document.activeElement.tagName"))
    order = [seen.index(name) if name in seen else -1 for name in
             ("loss-chart", "zoom-in", "step-choice", "timeline-chart", "memory-rank", "memory-chart", "traffic-chart")]
    check(-1 not in order and order == sorted(order), f"Tab goes through {seen}")
    check(browser.value("[...document.querySelectorAll('[tabindex=\"0\"],button,select')].every(one => one.textContent.trim() || one.getAttribute('aria-label'))"),
          "whatever takes the focus has a name")


def test_pointer(browser, data):
    """Resting on an instruction says what it is; the wheel zooms; dragging pans; the buttons do."""
    browser.value("document.getElementById('zoom-all').click()")
    browser.settle()
    browser.value("document.getElementById('timeline-chart').scrollIntoView({block: 'center'})")
    place = browser.value("""(() => { const box = document.getElementById('timeline-chart').getBoundingClientRect();
        const spot = shardlings.placeOf('forward', 0); return [box.left + spot.x, box.top + spot.y, spot.index]; })()""")
    browser.mouse("mouseMoved", place[0], place[1])
    tip = browser.text("timeline-tip")
    what = data["timeline"]["instructions"][data["timeline"]["ranks"][0]["compute"][3 * place[2] + 2]]
    check(what[0] in tip and "micro-batch" in tip and "begins at" in tip and "takes" in tip, f"resting on {what} says: {tip}")
    check(not browser.value("document.getElementById('timeline-tip').hidden"), "the tip is seen")
    before = window_of(browser)
    browser.mouse("mouseWheel", place[0], place[1], deltaX=0, deltaY=-300)
    near = window_of(browser)
    check(near[1] - near[0] < 0.8 * (before[1] - before[0]), f"the wheel zooms: {before}, {near}")
    browser.mouse("mousePressed", place[0], place[1], button="left", clickCount=1)
    browser.mouse("mouseMoved", place[0] - 60, place[1], button="left", buttons=1)
    browser.mouse("mouseReleased", place[0] - 60, place[1], button="left", clickCount=1)
    check(window_of(browser)[0] > near[0], "dragging to the left shows what is later")
    browser.value("document.getElementById('zoom-out').click()")
    check(window_of(browser)[1] - window_of(browser)[0] > near[1] - near[0], "the button zooms out")


WIDTHS = """(() => { const wide = document.documentElement.clientWidth;
    return [document.documentElement.scrollWidth - wide, [...document.querySelectorAll('main *')]
        .filter(one => !one.closest('.scroll, svg, [hidden]') && one.getBoundingClientRect().right > wide + 0.5)
        .map(one => one.tagName + '#' + one.id).slice(0, 5)]; })()"""


def test_width(browser, page, width):
    browser.size(width, 800, mobile=True)
    browser.open(os.path.join(FOLDER, page))
    over, which = browser.value(WIDTHS)
    check(over <= 0 and which == [], f"{page}: at {width} pixels nothing is wider: {over}, {which}")


def test_large(browser):
    """32 ranks of 1000 instructions."""
    page = read("run.html")
    data = enlarged(page_data(page))
    text = json.dumps(data).replace("<", "\\u003c")
    large = re.sub(r'(<script type="application/json" id="data">).*?(</script>)', lambda found: found[1] + text + found[2], page, flags=re.S)
    path = os.path.join(FOLDER, "large.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(large)
    check(len(large.encode()) < 5 << 20, f"it has {len(large.encode())} bytes")
    browser.size(1400, 900)
    seconds = browser.open(path)
    # Whoever opens a page waits for ten seconds and not longer (Nielsen 1993, chapter 5).
    check(seconds < 10, f"it took {seconds:.1f} s to load")
    check(browser.value("document.querySelectorAll('#layout-map button').length") == 32, "32 devices")
    browser.focus("timeline-chart")
    redraw = browser.value("(() => { const begin = performance.now(); shardlings.drawTimeline(); return performance.now() - begin; })()")
    check(redraw < 1000, f"{redraw:.0f} ms for a picture: less than the second that a train of thought survives (same chapter)")
    browser.key("End")
    check("takes" in browser.text("timeline-detail"), "its last instruction can be chosen")
    sent = {(rank["rank"], to["rank"]): to["bytes"] for rank in data["ranks"] for to in rank["sent_to"]}
    row, column = next(pair for pair in sorted(sent) if sent[pair] != sent.get(pair[::-1]))
    browser.focus("traffic-chart")
    browser.value(f"shardlings.chooseCell({row}, 0)")
    for _ in range(column):
        browser.key("ArrowRight")
    text = browser.text("traffic-detail")
    check(text.startswith(f"rank {row} to rank {column}") and f": {bytes_text(sent[row, column])} in" in text,
          f"rows send to columns: {row} sent {column} {bytes_text(sent[row, column])}: {text}")
    rows = browser.value("document.getElementById('timeline-canvas').clientHeight / 32")
    check(rows >= 14, f"a row has {rows} pixels: as much as a line of 12-pixel letters needs")
    check(browser.problems == [], f"no errors: {browser.problems}")
    test_width(browser, "large.html", 390)


def test_hostile(browser):
    """Names of files that look like markup are text."""
    browser.size(1200, 900)
    browser.open(os.path.join(FOLDER, "hostile.html"))
    check(browser.value("document.documentElement.dataset.ready") == "yes", "the page works")
    check(browser.value("window.caught === undefined && !document.querySelector('b.caught')"), "no markup came from a name")
    check("</script><script>caught=1</script>" in browser.text("data-file"), f"the name stands there: {browser.text('data-file')}")
    check(browser.problems == [], f"no errors: {browser.problems}")
    check(browser.value("document.getElementById('summary').textContent.includes('Its settings are others: batch 8 (here 4), another text.')"), "another batch is told")


def test_paper_and_themes(browser):
    browser.size(1200, 900)
    for scheme, dark in (("light", False), ("dark", True)):
        browser.scheme(scheme)
        browser.open(os.path.join(FOLDER, "run.html"))
        color = browser.value("getComputedStyle(document.body).backgroundColor")
        check((sum(map(int, re.findall(r"\d+", color)[:3])) < 200) == dark, f"{scheme}: the page is {color}")
    paper = browser.pdf()
    check(paper.startswith(b"%PDF") and len(paper) > 20000, f"it prints: {len(paper)} bytes")
    check(browser.problems == [], f"no errors: {browser.problems}")
    browser.scheme("light")
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.load(os.path.join(FOLDER, "run.html"))
    root = browser.call("DOM.getDocument")["root"]["nodeId"]
    cells = browser.call("DOM.querySelectorAll", nodeId=root, selector="noscript tbody tr")["nodeIds"]
    check(len(cells) == 8, f"without scripts there is a table of the ranks: {len(cells)} rows")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def main():
    run, baseline = json.loads(read("run.json")), json.loads(read("baseline.json"))
    data = page_data(read("run.html"))
    browser = Browser()
    try:
        test_labels(browser, FOLDER, check)
        browser.size(1280, 900)
        browser.open(os.path.join(FOLDER, "run.html"))
        test_panels(browser)
        test_numbers(browser, run, baseline)
        test_traffic(browser, run)
        test_keys(browser)
        test_focus_order(browser)
        test_pointer(browser, data)
        for page in ("run.html", "one.html", "hostile.html"):
            test_width(browser, page, 390)
        test_large(browser)
        test_hostile(browser)
        test_paper_and_themes(browser)
    finally:
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


sys.exit(main())
