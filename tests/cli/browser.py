"""A headless Chromium, driven over a pipe by the DevTools protocol; needs nothing besides the browser."""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser():
    """The path of a Chromium, or None; the environment variable CHROMIUM overrides the search."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page, without network access; it can open local files only."""

    def __init__(self, path, width=1120, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="lloyd-browser-", ignore_cleanup_errors=True)
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on descriptor 4.
        command = [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--no-first-run", "--disable-extensions", "--disable-background-networking",
                   "--disable-component-update", "--hide-scrollbars",
                   f"--user-data-dir={self.folder.name}/profile", "--remote-debugging-pipe", "about:blank"]
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self.log = open(os.path.join(self.folder.name, "log"), "w+b")
        self.process = subprocess.Popen(["bash", "-c", shell, "bash", *command],
                                        pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.last = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder.name)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.close(self.writer)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reader)
        self.log.close()
        self.folder.cleanup()

    def _read(self, timeout):
        """The next message, or None."""
        deadline = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                return None
            piece = os.read(self.reader, 1 << 16)
            if not piece:
                self.log.seek(0)
                raise AssertionError(f"the browser ended: {self.log.read().decode(errors='replace')[-2000:]}")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        """Calls a method of the protocol; events that arrive meanwhile are kept."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session and not method.startswith("Browser."):
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read(60)
            if answer is None:
                raise AssertionError(f"the browser does not answer {method}")
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, file):
        """Opens a file and waits until it is loaded and rendered."""
        self.call("Page.navigate", url=pathlib.Path(file).absolute().as_uri())
        self.wait("document.readyState === 'complete' && document.querySelector('#footer').textContent")

    def run(self, expression):
        """The value of a JavaScript expression; awaits a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True,
                           userGesture=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, timeout=120):
        """Waits until an expression is true; returns its value."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            value = self.run(expression)
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}; {self.errors()}")

    def press(self, key):
        """Presses a key in the element that has the focus."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def errors(self):
        """Errors and warnings of the console, and uncaught exceptions."""
        found = []
        for event in self.events:
            method, details = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(details["exceptionDetails"].get("exception", {}).get("description", details))
            elif method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
                found.append(str(details["args"]))
            elif method == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
                found.append(details["entry"]["text"])
        return found

    def requests(self):
        """The requested URLs."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def downloaded(self, timeout=120):
        """The name and the text of the single file that the page has downloaded."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            names = [name for name in os.listdir(self.folder.name) if name.endswith(".svg")]
            if names:
                with open(os.path.join(self.folder.name, names[0]), encoding="utf-8") as file:
                    text = file.read()
                if text.rstrip().endswith("</svg>"):  # Chromium creates the file before writing it
                    return names[0], text
            time.sleep(0.05)
        raise AssertionError("no whole file was saved")

    def screenshot(self, file, clip=None):
        """The whole page, or a part {x, y, width, height}, as a PNG file."""
        if clip is None:
            size = self.run("({x: 0, y: 0, width: document.documentElement.clientWidth, "
                            "height: document.documentElement.scrollHeight})")
            clip = size
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={**clip, "scale": 1})["data"]
        with open(file, "wb") as output:
            output.write(base64.b64decode(data))
