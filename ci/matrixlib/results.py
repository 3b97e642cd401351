"""The results of running cells: values that are written as JSON, and read again by `report` and `compare`."""

from __future__ import annotations  # Older Pythons read this, too.

import contextlib
import dataclasses
import functools
import json
import math
import os
import pathlib
import sys
import typing
from typing import Any

from .problems import Problem, StrPath, naming

VERSION = 1


@dataclasses.dataclass
class Test:
    name: str  # Module.Suite/test()
    status: str  # passed, failed, skipped, running (when its process ended), flaky
    seconds: float = 0
    messages: list[str] = dataclasses.field(default_factory=list)
    file: str = ""
    line: int = 0


@dataclasses.dataclass
class StepResult:
    name: str
    kind: str
    status: str  # passed, failed, crashed, timeout, interrupted, flaky
    seconds: float = 0
    code: int | None = 0
    log: str = ""
    why: str = ""  # the reason in one line, unless it passed
    tests: list[Test] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    finding: str = ""  # a finding outside of the failing tests, such as a sanitizer's; retries don't undo it


@dataclasses.dataclass
class CellResult:
    id: str
    status: str  # passed, failed, flaky, skipped, interrupted
    seconds: float = 0
    why: str = ""
    code: int = 0  # the exit code of ci/matrix if no cell before this one failed
    axes: dict[str, str] = dataclasses.field(default_factory=dict)
    steps: list[StepResult] = dataclasses.field(default_factory=list)
    metrics: dict[str, float] = dataclasses.field(default_factory=dict)
    inputs: str | None = None  # a digest of what its result depends on
    time: float = 0  # when it ended, since 1970

    @property
    def tests(self) -> list[Test]:
        return [test for step in self.steps for test in step.tests]

    @property
    def beside(self) -> str:
        """The text after the number of its tests: how many of them were skipped."""
        skipped = sum(test.status == "skipped" for test in self.tests)
        return f", {skipped} skipped" if skipped else ""

    @property
    def failed_step(self) -> StepResult | None:
        """The step that failed, which is the last one; None if it failed for another reason: a missing requirement, a full disk."""
        return self.steps[-1] if self.steps and self.steps[-1].status not in ("passed", "flaky") else None


def to_json(cells: list[CellResult]) -> dict[str, Any]:
    seconds = sum(cell.seconds for cell in cells if cell.status != "unchanged")
    return {"version": VERSION, "seconds": round(seconds, 1), "cells": [dataclasses.asdict(cell) for cell in cells]}


def write(file: StrPath, value: Any) -> None:
    """Writes a file in one go: even if the run is cut off, a reader sees all or nothing. Writes into pipes and devices; - is the output."""
    text = value if isinstance(value, str) else json.dumps(value, indent=1) + "\n"
    if str(file) == "-":
        sys.stdout.write(text)
        return
    with naming(file):
        if os.path.exists(file) and not os.path.isfile(file):
            # Otherwise this would wait for a reader of the pipe.
            with open(file, "w", errors="replace", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as out:
                os.set_blocking(out.fileno(), True)
                out.write(text)
            return
        file = pathlib.Path(os.path.realpath(file))
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.parent / f".{file.name}.{os.getpid()}"
        try:
            part.write_text(text, errors="replace")  # The name of a file may not be valid text.
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)


def append(file: StrPath, text: str) -> None:
    with naming(file), open(file, "a", encoding="utf-8", errors="replace") as out:
        out.write(text)


hints = functools.cache(typing.get_type_hints)


def made(kind: Any, value: Any) -> Any:
    """Returns a value of one of the types above, made from what a file says; raises an error if that doesn't fit."""
    if kind in (CellResult, StepResult, Test):
        return kind(**{name: made(hints(kind)[name], item) for name, item in dict(value).items()})
    outer, inner = typing.get_origin(kind), typing.get_args(kind)
    fitting: Any = (int, float) if kind is float else outer if outer in (list, dict) else kind
    if not isinstance(value, fitting) or isinstance(value, float) and not math.isfinite(value):
        raise TypeError
    if outer is dict:
        return {name: made(inner[1], item) for name, item in value.items()}
    return [made(inner[0], item) for item in value] if outer is list else value


def read(file: StrPath) -> list[CellResult]:
    """Returns the cells in a file that `run --report` wrote."""
    try:
        value = json.loads(pathlib.Path(file).read_text())
        if value["version"] != VERSION:
            raise Problem(f"{file}: version {value['version']} is not known here, {VERSION} is")
        return [made(CellResult, cell) for cell in value["cells"]]
    except OSError as error:
        raise Problem(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Problem(f"{file} is no report of ci/matrix") from None


def kept(file: StrPath, name: str, inputs: str | None) -> CellResult:
    """Returns the result of a cell's last run, if that had the same inputs, or else a passed result without details."""
    with contextlib.suppress(Problem, ValueError):
        if os.path.isfile(file) and (found := read(file)) and found[0].inputs == inputs:
            return found[0]
    return CellResult(name, "passed")
