"""A Chromium without a window, driven by its DevTools protocol over two pipes."""

import base64
import json
import os
import select
import subprocess
import time

from processes import LIMIT, Problem, Running

KEYS = {"Tab": 9, "Enter": 13}


class Browser:
    """A browser that ends with its block. What it asked for and what it complained of is kept."""

    def __init__(self, program, profile, *options):
        for_browser, self.commands = os.pipe()
        self.events, from_browser = os.pipe()

        def give_pipes():
            # Chromium takes these numbers and no others; what it is given may have one of them itself.
            reading, writing = os.dup(for_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        command = [
            program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--disable-breakpad", "--disable-background-networking", "--no-first-run", "--no-proxy-server",
            f"--user-data-dir={profile}", *options]
        self.running = Running(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=give_pipes)
        os.close(for_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.requests, self.complaints = [], []

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.running.kill()
        os.close(self.commands)
        os.close(self.events)

    def call(self, method, **parameters):
        """Asks the browser for something and gives its reply."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + LIMIT
        while (reply := self.take(deadline)).get("id") != message["id"]:
            self.note(reply)
        if "error" in reply:
            raise Problem(f"{method}: {reply['error']['message']}")
        return reply["result"]

    def take(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.events], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Problem("the browser says nothing")
            chunk = os.read(self.events, 1 << 16)
            if not chunk:
                raise Problem("the browser has ended")
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def note(self, event):
        method, values = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"a dialog: {values['message']}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(values["exceptionDetails"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.complaints.append(values["entry"]["text"])

    # A page

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait_until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, expression):
        reply = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            raise Problem(f"{expression}: {reply['exceptionDetails'].get('exception', {}).get('description')}")
        return reply["result"].get("value")

    def wait_until(self, expression, within=LIMIT):
        """Waits for something to be so; gives the seconds that it took."""
        began = time.monotonic()
        while not self.evaluate(expression):
            if time.monotonic() - began > within:
                raise Problem(f"not so within {within} s: {expression}\n{self.evaluate('document.body.innerText')}")
            time.sleep(0.01)
        return time.monotonic() - began

    def press(self, key, shift=False):
        values = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 if shift else 0}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **values, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **values)

    def type(self, text):
        """Types over what is in the field."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key="a", code="KeyA", modifiers=2, commands=["selectAll"])
        self.call("Input.insertText", text=text)

    def screenshot(self, path, scheme="light", width=1280, height=860):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
