"""What the report's charts say, where it stands, and what becomes of it with other numbers."""

import os

LABELS = """(() => { const wrong = [];
    for (const svg of document.querySelectorAll('.chart svg')) {
        const page = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
        texts.forEach(([text, box], i) => {
            if (box.left < page.left || box.right > page.right + 0.5 || box.top < page.top || box.bottom > page.bottom) wrong.push(text + ' is cut');
            for (const [other, at] of texts.slice(0, i))
                if (box.left < at.right && at.left < box.right && box.top + 3 < at.bottom && at.top + 3 < box.bottom) wrong.push(text + ' lies on ' + other);
        });
    }
    return wrong; })()"""


def test_labels(browser, folder, check):
    """No label is cut and none lies on another; 3 pixels of a line's height are room above its letters."""
    for page in ("run.html", "one.html", "naive.html"):
        for width in (1280, 360):
            browser.size(width, 900, mobile=width < 600)
            browser.open(os.path.join(folder, page))
            wrong = browser.value(LABELS)
            check(wrong == [], f"{page} at {width} pixels: {wrong}")
    check("(P - 1)/P = 1/2 = 50.0 %" in browser.text("summary"), f"the naive schedule's bubble: {browser.text('summary')}")
    check("--device-flops" in browser.text("summary"), "why next to nothing is computed")
    browser.size(1280, 900)
    browser.open(os.path.join(folder, "one.html"))
    check(not browser.value("document.getElementById('traffic-chart').checkVisibility()"), "one device has no matrix of traffic")
    browser.open(os.path.join(folder, "run.html"))
    check("(P - 1)/(M + P - 1) = 1/3 = 33.3 %" in browser.text("summary"), f"1F1B's bubble: {browser.text('summary')}")
    check("in step 4" in browser.text("timeline-says"), f"the window is of one step: {browser.text('timeline-says')}")
    browser.value("document.getElementById('zoom-all').click()")
    browser.settle()
    check("in steps 1 to 4" in browser.text("timeline-says"), f"and then of all: {browser.text('timeline-says')}")
    for page, what in (("run.html", "shardlings.data.cluster.devices_per_node = 2"), ("one.html", "shardlings.data.steps.loss.fill(5.499614)"),
                       ("one.html", "shardlings.data.steps.loss.fill(null)")):
        browser.size(1280, 900)
        browser.open(os.path.join(folder, page))
        browser.value(what)
        browser.size(1200, 900)  # draws anew
        browser.settle()
        browser.settle()
        wrong = browser.value(LABELS)
        check(wrong == [], f"{page} with {what}: {wrong}")
    check(browser.problems == [], f"no errors: {browser.problems}")
