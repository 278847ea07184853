#!/usr/bin/env python3
"""The page in headless Chromium, asked as a person would: fields, a plan that does not fit, a mistake, a search, a link, at the
width of a phone and of a desk.

usage: page_test.py PROGRAM [PAGE.html] [--pictures FOLDER]

PROGRAM serves the page; PAGE.html, which needs no server, is opened from the disk instead. Exit code 77: no Chromium here, no
such page, or the program was built without its server. Writes what it looked at to FOLDER.
"""
import argparse
import base64
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

PATIENCE_S = 90


class Browser:
    """A tab of Chromium, by its DevTools protocol, which is JSON over a WebSocket."""

    def __init__(self, program, profile):
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
             f"--user-data-dir={profile}", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ready = pathlib.Path(profile, "DevToolsActivePort")
        wait(lambda: ready.exists() and len(ready.read_text().split()) == 2)
        port = int(ready.read_text().split()[0])
        tabs = wait(lambda: [one for one in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
                             if one["type"] == "page"])
        self.number = 0
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.file = self.socket.makefile("rb")
        path = "/" + tabs[0]["webSocketDebuggerUrl"].split("/", 3)[3]
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        while self.file.readline().strip():
            pass

    def close(self):
        self.process.terminate()
        self.process.wait()

    def _read(self):
        text = b""
        while True:
            first, second = self.file.read(2)
            size = second & 127
            if size > 125:
                size = struct.unpack("!H" if size == 126 else "!Q", self.file.read(2 if size == 126 else 8))[0]
            text += self.file.read(size)
            if first & 128:
                return json.loads(text)

    def ask(self, method, **parameters):
        self.number += 1
        text = json.dumps({"id": self.number, "method": method, "params": parameters}).encode()
        size = bytes([len(text) | 128]) if len(text) < 126 else bytes([254]) + struct.pack("!H", len(text))
        self.socket.sendall(b"\x81" + size + b"\0\0\0\0" + text)  # a mask of zeros changes nothing
        while True:
            reply = self._read()
            if reply.get("id") == self.number:
                return reply["result"]

    def value(self, script):
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def resize(self, width, height=1200):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def picture(self, path):
        height = self.value("document.documentElement.scrollHeight")
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": self.value("innerWidth"), "height": min(height, 4000), "scale": 1})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))


def wait(condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            found = condition()
        except OSError:
            found = None
        if found:
            return found
        time.sleep(0.05)
    raise RuntimeError("nothing came of it in time")


def expect(condition, what):
    if not condition:
        raise AssertionError(what)
    print("ok:", what)


def follow(tab, address, pictures):
    def shot(name):
        if pictures:
            tab.picture(pathlib.Path(pictures, name + ".png"))

    def put(path, value, kind="number"):
        tab.value(f"""(() => {{
          const field = document.querySelector('[data-path="{path}"] input[type={kind}]');
          field.value = '{value}';
          field.dispatchEvent(new Event('input', {{bubbles: true}}));
        }})()""")

    def summary():
        return tab.value("document.getElementById('summary')?.textContent")

    tab.resize(1400)
    tab.ask("Page.enable")
    tab.ask("Page.navigate", url=address)
    wait(lambda: "fits" in (summary() or ""))
    expect(re.search(r"[0-9.]+ s.*MFU [0-9.]+ %.*GiB", summary()), f"an answer at once: {summary()}")
    shot("wide")
    before = summary()
    put("plan.pipeline", 1, "range")  # 2 to the power of 1
    wait(lambda: summary() != before)
    expect(tab.value("""document.querySelector('[data-path="plan.pipeline"] input[type=number]').value""") == "2",
           "a slider goes by powers of two")
    put("plan.tensor", 1)
    put("plan.pipeline", 1)
    wait(lambda: "does not fit" in summary())
    expect("does not fit" in tab.value("document.getElementById('answer').textContent"), "what does not fit is said")
    shot("does-not-fit")
    put("plan.tensor", 5)
    wait(lambda: tab.value("document.getElementById('errors').textContent"))
    expect("plan.tensor" in tab.value("document.getElementById('errors').textContent"), "a mistake is said")
    expect(tab.value("""document.querySelector('[data-path="plan.tensor"]').classList.contains('wrong')"""),
           "its field is marked")
    shot("wrong")
    tab.value("document.getElementById('search').click()")
    wait(lambda: tab.value("document.querySelectorAll('#found td button').length"))
    shot("found")
    tab.value("document.querySelector('#found td button').click()")
    wait(lambda: "fits" in summary() and "not" not in summary())
    expect(not tab.value("document.getElementById('errors').textContent"), f"a plan that was found is taken over: {summary()}")
    link = tab.value("location.href")
    found = summary()
    tab.ask("Page.navigate", url="about:blank")
    tab.ask("Page.navigate", url=link)
    wait(lambda: "fits" in (summary() or ""))
    expect(summary() == found, "a link holds the scenario")
    file = tab.value("""new Promise((done) => {
      URL.createObjectURL = (blob) => { blob.text().then(done); return 'data:,'; };
      document.getElementById('launch').click();
    })""")
    expect("--tensor-model-parallel-size" in file, "a launcher's file is written")
    for width in (1400, 900, 390):
        tab.resize(width)
        expect(tab.value("document.documentElement.scrollWidth <= innerWidth"), f"nothing is cut off at {width} pixels")
        shot(f"at-{width}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("page", nargs="?")
    arguments.add_argument("--pictures")
    options = arguments.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("no Chromium here")
        return 77
    if options.page and not pathlib.Path(options.page).exists():
        print(f"no {options.page}: scripts/build_web_page.sh makes it")
        return 77
    server = None
    if options.page:
        address = pathlib.Path(options.page).resolve().as_uri()
    else:
        server = subprocess.Popen([options.program, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
        first = server.stdout.readline().split()
        if not first:
            print(server.stderr.read())
            return 77
        address = first[0]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        tab = Browser(chromium, profile)
        try:
            follow(tab, address, options.pictures)
        finally:
            tab.close()
            if server:
                server.terminate()
                server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
