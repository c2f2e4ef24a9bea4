"""A headless Chromium, driven over the DevTools protocol through a pair of pipes: nothing but Python's own library."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.parse

PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
SECONDS = 120  # for one answer: a machine with many busy processes is slow to start a browser


def program():
    for name in PROGRAMS:
        if shutil.which(name):
            return name
    raise SystemExit("there is no Chromium: lib/scripts/setup.sh browser installs it")


class Browser:
    """One page. `problems` collects exceptions, console errors and every request that is not the page's own file."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        # The browser reads descriptor 3 and writes descriptor 4.
        command = ["sh", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh", program(), "--headless=new",
                   "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"]
        if to_browser > 9 or from_browser > 9:  # sh takes one digit
            raise SystemExit("too many files are open")
        self.process = subprocess.Popen(command, pass_fds=[to_browser, from_browser], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.pending, self.number, self.session, self.problems, self.events = b"", 0, None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(domain + ".enable")

    def close(self):
        os.close(self.write_end)  # which ends the browser
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.pending:
            chunk = os.read(self.read_end, 1 << 20)
            if not chunk:
                raise SystemExit("the browser has ended")
            self.pending += chunk
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, parameters = event.get("method", ""), event.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append("console: " + json.dumps(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append("log: " + parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent" and parameters["request"]["url"].startswith(("http", "ws", "ftp")):
            self.problems.append("it asks for " + parameters["request"]["url"])

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)
        raise SystemExit(f"{method}: no answer")

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def load(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + urllib.parse.quote(os.path.abspath(path)))
        while "Page.loadEventFired" not in self.events:
            self.note(self.receive())

    def open(self, path):
        """Seconds until the page has drawn everything."""
        begin = time.monotonic()
        self.load(path)
        self.settle()
        return time.monotonic() - begin

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def text(self, identifier):
        return self.value(f"document.getElementById({json.dumps(identifier)}).textContent")

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def focus(self, identifier):
        self.value(f"document.getElementById({json.dumps(identifier)}).focus()")

    def key(self, key, modifiers=0):
        text = {"text": key} if len(key) == 1 else {}
        code = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
                "End": 35, "Home": 36}.get(key, ord(key[0].upper()))
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=modifiers,
                      **(text if kind == "keyDown" else {}))
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def picture(self, path, whole=True):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
