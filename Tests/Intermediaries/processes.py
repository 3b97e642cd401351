"""Processes that end with the block they were started in, and what they take: ports, lines."""

import os
import queue
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

LIMIT = 30  # seconds, for each thing that is waited for


class Problem(Exception):
    """Something did not go as it should have."""


class Running:
    """A process in a session of its own, which is killed as a whole: nginx and squid have children."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, start_new_session=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def status(self):
        """The exit status, negative for a signal; None while it runs. It stays a zombie, and the session's number its own."""
        end = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if end is None:
            return None
        return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status


class Client(Running):
    """A process whose lines can be waited for."""

    def __init__(self, command):
        # What this machine's own proxy is has nothing to do with it.
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        super().__init__(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        self.said = []
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def kill(self):
        super().kill()
        self.reader.join(LIMIT)
        self.process.stdout.close()

    def next_line(self, deadline, wanted):
        """None at the end; a problem at the deadline."""
        try:
            line = self.lines.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            raise Problem(f"no {wanted} in time; last: {self.last}") from None
        if line is not None:
            self.said.append(line)
        return line

    def wait_for(self, text, limit=LIMIT):
        """Reads on to a line with this text."""
        deadline = time.monotonic() + limit
        while (line := self.next_line(deadline, f'"{text}"')) is not None:
            if text in line:
                return
        raise Problem(f'ended without "{text}"; last: {self.last}')

    def end(self, limit=LIMIT):
        """Reads to the end; gives the exit status."""
        deadline = time.monotonic() + limit
        while self.next_line(deadline, "end") is not None:
            pass
        while (status := self.status()) is None:
            if time.monotonic() > deadline:
                raise Problem(f"closed its output, and did not end; last: {self.last}")
            time.sleep(0.01)
        return status

    @property
    def last(self):
        return self.said[-1] if self.said else "nothing"


class Daemon:
    """An intermediary in the foreground, as a user who may do nothing, until the block ends."""

    def __init__(self, name, command, port, folder, reload_signal=None):
        self.name, self.command, self.port, self.reload_signal = name, command, port, reload_signal
        self.log = folder / f"{name}-{port}.log"
        self.running = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        with self.log.open("ab") as log:
            self.running = Running(self.command, stdout=log, stderr=log, cwd="/", **user)
        deadline = time.monotonic() + LIMIT
        while not self.listens():
            if self.running.status() is not None or time.monotonic() > deadline:
                said = self.log.read_text(errors="replace").splitlines()[-5:]
                self.kill()
                raise Problem(f"{self.name} does not listen on port {self.port}: " + " / ".join(said))
            time.sleep(0.05)

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self):
        if self.running:
            self.running.kill()

    def reload(self):
        self.running.process.send_signal(self.reload_signal)


def free_ports():
    """Ports below those that the kernel gives to outgoing connections, which would take them meanwhile."""
    for port in random.sample(range(20_000, 30_000), 10_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port


def find(program):
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
