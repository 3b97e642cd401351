"""Prints what `run` shows: a line for each cell, failures as they happen, and on a terminal, at the bottom, what is running."""

import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TextIO

from .results import CellResult
from .supervise import BY_ITSELF, CLEANING, KILLED

COLORS = {"passed": "32", "failed": "31", "flaky": "35", "skipped": "33", "unchanged": "33", "interrupted": "33"}


def clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def to_nowhere(out: TextIO) -> None:
    """Redirects a file to nowhere, with its buffered output, which Python would otherwise complain about when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


class Screen:
    """The output of a run of several `jobs` at a time, usable from any thread. `usual` are the seconds of each cell, None if it never passed."""

    def __init__(self, usual: Mapping[str, float | None], jobs: int, out: TextIO | None = None,
                 environment: Mapping[str, str] = os.environ) -> None:
        self.usual, self.jobs, self.out = usual, jobs, out or sys.stdout
        self.terminal = self.out.isatty() and environment.get("TERM") != "dumb"
        self.clear = "\r\x1b[K" if self.terminal else ""
        # As no-color.org and force-color.org specify: an empty variable has no effect.
        self.colored = bool(environment.get("FORCE_COLOR")) or self.terminal and not environment.get("NO_COLOR")
        self.began = time.monotonic()
        self.finished, self.running = set[str](), dict[str, tuple[str, float]]()  # by cell: its step, and when it began
        self.ending = False
        self.refused: OSError | None = None  # why nothing more can be shown
        self._lock, self._end = threading.RLock(), threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> None:
        self._ticker.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._ticker.join()
        with self._lock:
            self._write(self.clear)

    def paint(self, status: str, text: str) -> str:
        return f"\x1b[{COLORS[status]}m{text}\x1b[0m" if self.colored else text

    def began_step(self, cell: str, step: str, log: object = "") -> None:
        with self._lock:
            _, since = self.running.get(cell, (None, time.monotonic()))
            self.running[cell] = (step, since)
            if not self.terminal:
                self.say(f"{'':11} {cell}: {step}" + (f"  ({log})" if log else ""))

    def ended_cell(self, result: CellResult, details: Iterable[str]) -> None:
        with self._lock:
            self.running.pop(result.id, None)
            self.finished.add(result.id)
            tests = f"{len(result.tests)} test{'s' if len(result.tests) > 1 else ''}{result.beside}" if result.tests else ""
            took = clock(result.seconds) if result.steps else ""
            status = self.paint(result.status, f"{result.status:11}")
            line = f"{status} {result.id:{max(map(len, self.usual))}} {took:>7}  {result.why or tests}".rstrip()
            self.say("\n".join([line, *details]))

    def say(self, text: str) -> None:
        with self._lock:
            self._write(f"{self.clear}{text}\n")

    def status(self) -> str:
        now, estimate = time.monotonic(), ""
        took = {cell: now - since for cell, (_, since) in self.running.items()}
        running = ", ".join(f"{cell}: {step} {clock(took[cell])}" for cell, (step, _) in self.running.items())
        left = [seconds and max(0, seconds - took.get(cell, 0)) for cell, seconds in self.usual.items() if cell not in self.finished]
        if self.ending:
            estimate = f", interrupted: waits for what runs to end, {math.ceil(BY_ITSELF + CLEANING + KILLED)} s at most"
        elif None not in left:
            estimate = f", about {clock(sum(filter(None, left)) / self.jobs)} left"
        return f"[{len(self.finished)}/{len(self.usual)}] {clock(now - self.began)}{estimate}  {running}"

    def _tick(self) -> None:
        while self.terminal and not self._end.wait(1):
            self.show()

    def show(self) -> None:
        with self._lock:
            if self.terminal and not self._end.is_set():
                columns = 80
                with contextlib.suppress(OSError):  # If the terminal was closed, writing tells.
                    columns = os.get_terminal_size(self.out.fileno()).columns or columns
                self._write(self.clear + self.status()[:columns - 1])

    def _write(self, text: str) -> None:
        try:
            self.out.write(text)
            self.out.flush()
        except OSError as error:  # Nobody reads any more, or the disk is full: end what runs, as when a terminal is closed.
            self.refused = self.refused or error
            to_nowhere(self.out)
            # Sent to the main thread, which handles signals but sleeps: Linux would otherwise give it to this one.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
