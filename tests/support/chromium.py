"""A real Chromium, driven through its debugging pipe by mouse and keyboard."""

import base64
import json
import os
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
KEYS = {"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40, "ArrowRight": 39, "a": 65}
PATIENCE = 60


def program():
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """One browser with one page."""

    def __init__(self, path, profile):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def connect():
            # It reads from 3 and writes to 4; either may be the other's number now.
            reading, writing = os.dup(theirs_in), os.dup(theirs_out)
            while min(reading, writing) < 5:
                reading, writing = os.dup(reading), os.dup(writing)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [
                path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
                "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                "--no-first-run", "--disable-background-networking", "about:blank",
            ],
            close_fds=False,
            preexec_fn=connect,  # noqa: PLW1509 -- it only moves two numbers
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self._number, self._session, self._left, self.events = 0, None, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self._in.close()
        self._out.close()

    def call(self, method, **parameters):
        """Send one command and return its result; events are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _receive(self):
        while b"\0" not in self._left:
            read = os.read(self._in.fileno(), 65536)
            assert read, "the browser is gone"
            self._left += read
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def evaluate(self, expression):
        """Return the value of an expression on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression):
        """Wait until an expression is true."""
        for _ in range(PATIENCE * 50):
            if self.evaluate(expression):
                return
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}")

    def open(self, address):
        """Open an address anew and wait for the page's answers."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")
        self.settle()

    def settle(self):
        """Wait until the page has computed everything."""
        self.wait("!document.getElementById('results').hasAttribute('aria-busy')")

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector):
        """Click in the middle of an element."""
        x, y = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )

    def press(self, key, modifiers=0):
        code = {"key": key, "windowsVirtualKeyCode": KEYS[key], "modifiers": modifiers}
        if key == " ":
            code["text"] = " "
        commands = {"commands": ["selectAll"]} if (key, modifiers) == ("a", 2) else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **code, **commands)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def type(self, words):
        """Replace the text of the field that has the focus."""
        self.press("a", modifiers=2)
        self.call("Input.insertText", text=words)

    def tab_to(self, selector):
        """Press Tab until an element has the focus."""
        for _ in range(80):
            if self.evaluate(f"document.activeElement.matches({json.dumps(selector)})"):
                return
            self.press("Tab")
        raise AssertionError(f"the keyboard does not reach {selector}")

    def resize(self, width, height, *, dark=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(picture))
