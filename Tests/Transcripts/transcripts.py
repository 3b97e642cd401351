"""Transcripts of what servers say to the steps in steps.jsonl, in a form in which two runs of a server are the same.

Also a player of these steps, with a small WebSocket client and nothing but the standard library.

A transcript starts with lines `# ...`: which server it was and when it was recorded. After `## step` come the step's answers, the HTTP
API's first, then frames by connection. A line `~ reason` after them says why `serve --profile NAME` may answer differently.
"""

import ast
import base64
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import re
import select
import socket
import struct
import time
import urllib.parse

HERE = pathlib.Path(__file__).parent
STEPS = [json.loads(line) for line in (HERE / "steps.jsonl").read_text(encoding="utf-8").split("\n") if line]
ORDER = {step["step"]: place for place, step in enumerate(STEPS)}
# What these cause may come late, so it counts as a later step's.
LATE = {"batch": "batch frames", "batch 11": "batch empty", "events missing name": "events not json",
        "events missing data": "events not json", "terminate u1": "after terminate", "terminate u1 with {}": "after terminate"}


def plain(value):
    """Returns a JSON value without what differs from run to run, and lists of people in order."""
    if isinstance(value, dict):
        value = {key: plain(item) for key, item in value.items()}
        for key in ("ids", "users"):
            if isinstance(value.get(key), list):
                value[key].sort(key=json.dumps)
        for key in ("socket_id", "acknowledgement_id"):
            if key in value:
                value[key] = f"<{key}>"
        return value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return compact(plain(json.loads(value)))
        except ValueError:
            return value
    return value


def compact(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def normal(text):
    """Returns a text from a server without what differs from run to run."""
    try:
        text = compact(plain(json.loads(text)))
    except ValueError:
        text = " ".join(text.split())
    text = re.sub(r"(.)\1{99,}", lambda run: f"<{len(run[0])} {run[1]}>", text)
    text = re.sub(r"\b[0-9a-f]{32,64}\b", "<digest>", text)
    text = re.sub(r"\b\d+\.\d+(?=:)|\b\d{4,}\.\d{4,}\b", "<socket_id>", text)
    text = re.sub(r"\"\d+\.\d+\"", '"<socket_id>"', text)
    text = re.sub(r"\b1\d{9}\b", "<time>", text)
    return text[:1500].replace("\u2028", "\\u2028")


def line(connection, kind, *values):
    """Returns the line of what came on a connection; `None` for the end that follows a close frame or a refused upgrade."""
    values = [normal(str(value)) for value in values]
    return f"{connection}< {' '.join([kind, *values])}".rstrip()


class Transcript:
    """What a server says to each step, with the reasons for which an imitation may differ."""

    def __init__(self, about=()):
        self.about, self.steps, self.reasons = list(about), {}, {}

    def add(self, step, http, frames):
        """Adds a step with the HTTP answer's line, if any, and frames as (connection, kind, values...)."""
        answers = self.steps.setdefault(step, [])
        answers[:0] = [http] if http else []
        for place, frame in enumerate(frames):
            follows = any(other[0] == frame[0] and (other[1] == "close" or "101" not in other[2] and other[1] == "status")
                          for other in frames[:place])
            if frame[1] == "eof" and follows:
                continue
            self.steps.setdefault(LATE.get(step, step), []).append(line(frame[0], *(frame[1:2] if frame[1] == "eof" else frame[1:])))
        for name in (step, LATE.get(step, step)):
            self.steps.setdefault(name, []).sort(key=lambda answer: "" if answer.startswith("HTTP") else answer[0])

    def text(self):
        """Returns the transcript as its file holds it."""
        lines = self.about[:]
        for step in sorted(self.steps, key=ORDER.__getitem__):
            lines += [f"## {step}", *self.steps[step], *(f"~ {reason}" for reason in self.reasons.get(step, []))]
        return "\n".join(lines) + "\n"

    @classmethod
    def read(cls, path):
        transcript, step = cls(), None
        for text in pathlib.Path(path).read_text(encoding="utf-8").split("\n"):
            if text.startswith("## "):
                step = text[3:]
                transcript.steps[step] = []
            elif text.startswith("# "):
                transcript.about.append(text)
            elif text.startswith("~ "):
                transcript.reasons.setdefault(step, []).append(text[2:])
            elif text:
                transcript.steps[step].append(text)
        return transcript

    @classmethod
    def convert(cls, path, about):
        """Reads a recording of raw frames: `## step`, `HTTP status type body`, and `A< ('text', '...')`."""
        transcript, step, http, frames = cls([f"# {about}"]), None, None, []

        def finish():
            if step in ORDER:
                transcript.add(step, http, frames)

        for text in pathlib.Path(path).read_text(encoding="utf-8").split("\n"):
            text = re.sub(r"<(\d+) (.)>", lambda run: int(run[1]) * run[2], text)
            if "## " in text and text.split("## ")[-1] in ORDER and (text.startswith("## ") or text.startswith("  D>")):
                finish()
                step, http, frames = text.split("## ")[-1], None, []
            elif text.startswith("## "):
                finish()
                step = None
            elif answer := re.match(r"  HTTP (\d+|ERR) \S+(?: charset=\S+)? ?(.*)", text):
                http = f"HTTP {answer[1]} {normal(answer[2])}".rstrip()
            elif (frame := re.match(r"  ([A-Z])< (\(.*\))$", text)) and "('ping'" not in text:
                frames.append((frame[1], *ast.literal_eval(frame[2])))
        finish()
        return transcript

    def differences(self, other):
        """Returns what another server says differently, line by line, and the steps among it for which there is no reason, or a reason
        without a difference.
        """
        lines, problems, count = [], [], 0
        for step, expected in self.steps.items():
            came, reasons = other.steps.get(step, []), self.reasons.get(step, [])
            count += came != expected
            if (came != expected) != bool(reasons):
                problems.append(step)
            if came != expected:
                lines += [f"## {step}", *(f"  - {answer}" for answer in expected), *(f"  + {answer}" for answer in came)]
                lines += [f"  ~ {reason}" for reason in reasons] or ["  differs without a reason"]
            elif reasons:
                lines += [f"## {step}", "  is the same, though there is a reason to differ"]
        lines.append(f"{count} of {len(self.steps)} steps differ; {len(problems)} are unexplained")
        return lines, problems


# What these subscribe to isn't subscribed to again on a new connection.
ATTEMPTS = re.compile(r"sub name|subscribe |sub private (bad|no|wrong|auth)")


def signature(text, secret="local-secret"):
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def filled(value):
    """Returns a value of steps.jsonl in which `<x x 9000>` is nine thousand x."""
    if isinstance(value, dict):
        return {key: filled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item) for item in value]
    return re.sub(r"^<(.) x (\d+)>$", lambda run: run[1] * int(run[2]), value) if isinstance(value, str) else value


class Socket:
    """A WebSocket that keeps what comes as tuples, as recordings have it."""

    def __init__(self, address, path):
        self.path, self.came, self.buffer, self.id, self.pongs, self.subscriptions = path, [], b"", "0.0", 0, {}
        self.socket = socket.create_connection(address, timeout=10)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.isUpgraded, self.isOver = False, False

    def send(self, opcode, payload):
        mask, count = os.urandom(4), len(payload)
        length = bytes([128 | count]) if count < 126 else struct.pack("!BH", 254, count) if count < 65536 else struct.pack("!BQ", 255, count)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        try:
            self.socket.sendall(bytes([128 | opcode]) + length + mask + masked)
        except OSError:
            pass

    def read(self):
        """Reads what has come."""
        try:
            data = self.socket.recv(1 << 20)
        except OSError:
            data = b""
        self.buffer += data
        if not self.isUpgraded and b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            self.came.append(("status", head.split(b"\r\n")[0].decode()))
            self.isUpgraded = b" 101 " in head[:20]
            self.isOver = not self.isUpgraded
        while self.isUpgraded and (frame := self.frame()):
            self.take(*frame)
        if not data and not self.isOver:
            self.isOver = True
            self.came.append(("eof",))

    def frame(self):
        if len(self.buffer) < 2:
            return None
        length, start = self.buffer[1] & 127, 2
        if length > 125:
            start = 4 if length == 126 else 10
            length = int.from_bytes(self.buffer[2:start], "big")
        if len(self.buffer) < max(start, start + length):
            return None
        opcode, payload = self.buffer[0] & 15, self.buffer[start:start + length]
        self.buffer = self.buffer[start + length:]
        return opcode, payload

    def take(self, opcode, payload):
        if opcode == 8:
            self.came.append(("close", int.from_bytes(payload[:2], "big") if payload else None, payload[2:].decode()))
            self.send(8, payload[:2])
        elif opcode == 9:
            self.send(10, payload)
        elif opcode == 10 and payload == b"barrier":
            self.pongs += 1
        elif opcode == 10:
            self.came.append(("pong", payload.hex()))
        else:
            text = payload.decode()
            if found := re.search(r'socket_id\\?":\s?\\?"([^"\\]+)', text):
                self.id = found[1]
            self.came.append(("text", text))


class Player:
    """The connections of a run, by their letters."""

    def __init__(self, address, quiet):
        self.address, self.quiet, self.sockets = address, quiet, {}
        self.sender = None
        self.sent = [0.0] * 9  # The times of the latest client events.

    def play(self, only=None):
        transcript = Transcript()
        for step in STEPS:
            name, answer = step["step"], None
            if only is not None and name not in only:
                continue
            letter = name[-1] if name.startswith(("connect ", "signin conn")) and name[-2] == " " and name[-1].isupper() else "W"
            for deed in step["does"]:
                answer = self.do(filled(deed), name, letter) or answer
            self.settle()
            transcript.add(name, answer and f"HTTP {answer}", self.frames())
            if name not in LATE:
                self.reopen()
        return transcript

    def do(self, deed, step, letter):
        if request := deed.get("request"):
            return self.request(request)
        if path := deed.get("connect"):
            self.sockets[letter] = Socket(self.address, path)
        elif connection := self.sockets.get(deed["from"]):
            self.sender = connection
            self.say(connection, deed, step)
        return None

    def say(self, connection, deed, step):
        if "close" in deed:
            connection.send(8, struct.pack("!H", deed["close"]))
            self.settle()
            connection.socket.close()
            self.sockets = {key: other for key, other in self.sockets.items() if other is not connection}
        elif connection.isOver and "frame" not in deed:
            connection.came.append(("not-connected",))
        elif "frame" in deed:
            frame = deed["frame"]
            data = frame.get("data")
            channel = data.get("channel") if isinstance(data, dict) else None
            if frame.get("event") == "pusher:subscribe" and not ATTEMPTS.match(step):
                connection.subscriptions[channel] = frame
            elif frame.get("event") == "pusher:unsubscribe":
                connection.subscriptions.pop(channel, None)
            elif "channel" in frame:
                self.pause()
            if connection.isOver:
                connection.came.append(("not-connected",))
            else:
                connection.send(1, json.dumps(self.signed(frame, connection.id), ensure_ascii=False).encode())
        elif "ping" in deed:
            connection.send(9, deed["ping"].encode())
        else:
            connection.send(1 if "text" in deed else 2, deed.get("text", deed.get("binary", "")).encode())

    def pause(self):
        """Waits so that the limit of ten client events a second, which servers have, isn't reached."""
        time.sleep(max(0, self.sent[0] + 1.05 - time.monotonic()))
        self.sent = [*self.sent[1:], time.monotonic()]

    def signed(self, frame, socket_id):
        """Returns a frame whose signature is made for a connection."""
        data = frame.get("data")
        if not isinstance(data, dict) or "<signature" not in data.get("auth", ""):
            return frame
        if "user_data" in data:
            text = f"{socket_id}::user::{data['user_data']}"
        else:
            text = ":".join([socket_id, data["channel"], *filter(None, [data.get("channel_data")])])
        made = signature(text, "wrong" if "wrong secret" in data["auth"] else "local-secret")
        return {**frame, "data": {**data, "auth": re.sub("<.*>", made, data["auth"])}}

    def request(self, request):
        body = request.get("raw body", json.dumps(request["body"], ensure_ascii=False) if "body" in request else "")
        body = body.replace("<socket id of A>", self.sockets["A"].id if "A" in self.sockets else "").encode()
        path = f"/apps/{request.get('app', '1')}{request['path']}"  # A "#" as it is, as some clients send it.
        age = 700 if "auth_timestamp" in request else 0
        query = {"auth_key": request.get("auth_key", "local-key"), "auth_timestamp": str(int(time.time()) - age), "auth_version": "1.0",
                 **request.get("query", {})}
        if body:
            query["body_md5"] = hashlib.md5(body).hexdigest()
        query = {key: item for key, item in query.items() if key not in request.get("without", [])}
        sorted_query = "&".join(f"{key}={query[key]}" for key in sorted(query))
        query["auth_signature"] = signature(f"{request['method']}\n{path}\n{sorted_query}",
                                            "wrong" if "signed with" in request else "local-secret")
        query = {key: item for key, item in query.items() if key not in request.get("without", [])}
        connection = http.client.HTTPConnection(*self.address, timeout=10)
        try:
            connection.request(request["method"], f"{path}?{urllib.parse.urlencode(query)}", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return f"{response.status} {normal(response.read().decode())}".rstrip()
        except OSError as error:
            return f"ERR {error}"
        finally:
            connection.close()

    def settle(self):
        """Reads until nothing more comes: for a time, or until every connection has answered a ping, one after the other. The latest
        sender is the first, so that the server has read what it sent before the others are asked.
        """
        if self.quiet:
            while self.wait(self.quiet):
                pass
            return
        for connection in sorted(self.sockets.values(), key=lambda other: other is not self.sender):
            while not connection.isOver and not connection.isUpgraded and self.wait(10):
                pass
            answered = connection.pongs + 1
            if not connection.isOver:
                connection.send(9, b"barrier")
            while not connection.isOver and connection.pongs < answered and self.wait(10):
                pass

    def wait(self, seconds):
        """Reads from every connection that has something; returns whether any had."""
        ready = {other.socket: other for other in self.sockets.values() if not other.isOver}
        for found in (readable := select.select(list(ready), [], [], seconds)[0]):
            ready[found].read()
        return bool(readable)

    def frames(self):
        frames = []
        for key, connection in sorted(self.sockets.items()):
            frames += [(key, *came) for came in connection.came if came[0] != "status" or key == "W"]
            connection.came = []
        return frames

    def reopen(self):
        """Opens what the server has closed again, with its subscriptions."""
        for key, connection in list(self.sockets.items()):
            if not connection.isOver or key == "W":
                continue
            self.sockets[key] = new = Socket(self.address, connection.path)
            new.subscriptions = connection.subscriptions
            self.settle()
            for frame in new.subscriptions.values():
                self.sender = new
                new.send(1, json.dumps(self.signed(frame, new.id), ensure_ascii=False).encode())
                self.settle()
        for connection in self.sockets.values():
            connection.came = []
