"""Headless Chromium, controlled over a pipe with the DevTools protocol by the standard library alone. Network
requests are recorded."""

import base64
import json
import os
import select
import shutil
import subprocess
import time


def installed() -> str | None:
    """The program, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    def __init__(self, folder, size=(1400, 1000), dark=False):
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        # The browser reads commands from descriptor 3 and answers on 4.
        def place():
            one, other = os.dup(to_browser), os.dup(from_browser)
            os.dup2(one, 3)
            os.dup2(other, 4)

        self._process = subprocess.Popen(
            [installed(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
             f"--user-data-dir={folder}/profile", f"--window-size={size[0]},{size[1]}",
             f"--blink-settings=preferredColorScheme={0 if dark else 1}", "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._text, self._last = b"", 0
        self._session = None
        self.requests, self.complaints = [], []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(domain + ".enable")
        self.ask("Performance.enable", timeDomain="threadTicks")
        self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def _next(self, until):
        while b"\0" not in self._text:
            ready, _, _ = select.select([self._read], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            some = os.read(self._read, 1 << 20)
            if not some:
                raise RuntimeError("the browser has gone")
            self._text += some
        message, self._text = self._text.split(b"\0", 1)
        message = json.loads(message)
        method, what = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(what["exceptionDetails"].get("exception", {}).get("description", str(what)))
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(what["args"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.complaints.append(what["entry"]["text"])
        return message

    def ask(self, method, timeout=60, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + timeout
        while True:
            answer = self._next(until)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, path, timeout=60, query=""):
        """Loads a file and waits until its scripts have run."""
        self.visit(path.resolve().as_uri() + query, timeout)

    def visit(self, address, timeout=60):
        """The same for any address."""
        self.ask("Page.navigate", url=address)
        until = time.monotonic() + timeout
        while self._next(until).get("method") != "Page.loadEventFired":
            pass

    def wait_for(self, condition, timeout=120):
        """Until the JavaScript expression is true; returns its value."""
        until = time.monotonic() + timeout
        while not (value := self.value(condition)):
            if time.monotonic() > until:
                raise TimeoutError(f"{condition} is not true: {self.value('document.body.innerText')}")
            time.sleep(0.05)
        return value

    def worked(self) -> float:
        """CPU seconds of the page so far, which do not depend on the load of the machine."""
        return next(one["value"] for one in self.ask("Performance.getMetrics")["metrics"] if one["name"] == "ThreadTime")

    def resize(self, width, height=1000):
        """Sets the width of the window; its page has been laid out and drawn again."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.value("dispatchEvent(new Event('resize'))")

    def overflowing(self):
        """Names of elements that are wider than the window and have no scroll bar; that of the page first."""
        return self.value("""(() => {
          const wide = document.documentElement.clientWidth, found = [];
          if (document.documentElement.scrollWidth > wide) found.push("page: " + document.documentElement.scrollWidth);
          const scrolls = (one) => one && (["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
          for (const one of document.body.querySelectorAll("*"))
            if (one.getBoundingClientRect().right > wide + 1 && !scrolls(one.parentElement))
              found.push(one.tagName + " " + (one.id || one.className) + ": " + (one.textContent || "").slice(0, 40));
          return found;
        })()""")

    def value(self, expression):
        """The value of a JavaScript expression, after pending drawing."""
        settled = f"new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done({expression}))))"
        result = self.ask("Runtime.evaluate", expression=settled, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self) -> bytes:
        """A PNG of the window."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def paper(self) -> bytes:
        """A PDF of the page."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])
