"""What is tried with each intermediary; what goes wrong is a problem."""

import collections
import contextlib
import socket
import time
from urllib.parse import quote

from processes import LIMIT, Client, Problem
from sites import PASSWORDS

# nginx's proxy_read_timeout, in seconds.
IDLE_TIMEOUT = 60


class Trials:
    def __init__(self, site, program, show):
        self.site, self.program, self.show = site, program, show

    def demo(self, *arguments):
        with Client([self.program, "demo", "--server-port", self.site.server, *arguments]) as demo:
            status = demo.end(90)
        secrets = {form for password in PASSWORDS.values() for form in (password, quote(password, safe=""))}
        if any(secret in line for secret in secrets for line in demo.said):
            raise Problem("it shows the password")
        return status, demo.last

    def succeeds(self, *arguments):
        status, last = self.demo(*arguments)
        if status != 0 or not last.endswith("steps happened"):
            raise Problem(f"status {status}: {last}")

    def is_refused(self, code, *arguments):
        status, last = self.demo(*arguments)
        if status != 1 or "answered the request for a tunnel to 127.0.0.1:" not in last or f"HTTP {code}" not in last:
            raise Problem(f"status {status}: {last}")

    @contextlib.contextmanager
    def listening(self, ports):
        """Listens in both ways; both must hear an event in the end."""
        listen = [self.program, "listen", "news", "--count", "1", "--max-delay", "1", "--proxy", "none"]
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(Client([self.program, "serve", "--port", self.site.server]))
            server.wait_for("listening on")
            clients = [
                stack.enter_context(Client([*listen, "--port", ports["PLAIN"]])),
                stack.enter_context(Client([*listen, "--port", ports["TLS"], "--tls", "--ca-file", self.site.authority]))]
            for client in clients:
                client.wait_for("subscribed to news")
            yield clients
            trigger = stack.enter_context(Client([self.program, "trigger", "news", "back", "{}", "--port", self.site.server]))
            if trigger.end() != 0:
                raise Problem(trigger.last)
            for client in clients:
                client.wait_for("news back {}")
                if client.end() != 0:
                    raise Problem(client.last)

    def reconnects(self, ports, interrupt):
        with self.listening(ports) as clients:
            interrupt()
            for client in clients:
                client.wait_for("reconnecting")
                client.wait_for("subscribed to news")

    def stays(self, ports):
        """Nothing happens for longer than an intermediary lets a connection be silent by default."""
        with self.listening(ports) as clients:
            time.sleep(IDLE_TIMEOUT + 10)
        if lost := [line for client in clients for line in client.said if "reconnecting" in line]:
            raise Problem(lost[0])

    def passes_on_the_upgrade(self, *arguments):
        """Reads what arrives in the server's place: each field of the handshake once, and nothing else of its kind."""
        with socket.create_server(("127.0.0.1", self.site.server)) as server:
            server.settimeout(LIMIT)
            with Client([self.program, "listen", "news", "--proxy", "none", *arguments]):
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(LIMIT)
                    head = b""
                    while b"\r\n\r\n" not in head and (received := connection.recv(4096)):
                        head += received
        lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
        if self.show:
            print("\n".join(lines), end="\n\n", flush=True)
        fields = collections.defaultdict(list)
        for name, _, value in (line.partition(":") for line in lines[1:]):
            fields[name.lower()].append(value.strip().lower())
        wrong = [
            f"{name}: {fields[name]}"
            for name, expected in (("connection", "upgrade"), ("upgrade", "websocket"), ("sec-websocket-version", "13"))
            if fields[name] != [expected]]
        wrong += [f"{name}: {fields[name]}" for name in ("host", "sec-websocket-key") if len(fields[name]) != 1]
        wrong += [name for name in ("content-length", "transfer-encoding", "sec-websocket-extensions") if name in fields]
        if not lines[0].startswith("GET /app/local-key?") or not lines[0].endswith(" HTTP/1.1"):
            wrong.append(lines[0])
        if wrong:
            raise Problem("; ".join(wrong))
