"""Plays steps against a server: a small WebSocket client and signed requests, with nothing but the standard library."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import select
import socket
import struct
import time
import urllib.parse

from transcript import LATE, STEPS, Transcript, normal

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
