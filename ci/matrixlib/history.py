"""The history of earlier runs: how long cells took, how they ended, and which tests were flaky."""

import collections
import contextlib
import fcntl
import json
import time
from collections.abc import Iterable
from typing import Any

from .cells import Cell
from .problems import naming, regular
from .results import CellResult, made, write
from .shell import Places


KINDS = {"status": str, "seconds": float, "time": int, "inputs": str, "times": list[float]}


def known(entry: Any) -> dict[str, Any]:
    """Returns the values of an entry that have the right type; somebody may have edited the file."""
    found = {}
    for key, kind in KINDS.items():
        with contextlib.suppress(TypeError, KeyError):
            found[key] = made(kind, entry[key])
    return found


class History:
    def __init__(self, places: Places) -> None:
        self.file = places.results / "history.json"
        self.flaky = places.flakes
        self.cells = self.read()

    def read(self) -> dict[str, dict[str, Any]]:
        try:
            with regular(self.file) as file:
                return {name: known(entry) for name, entry in json.load(file).items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}  # The file was never written, or isn't ours.

    def last(self, cell: Cell, key: str) -> Any:
        """Returns the `status` or `time` (since 1970) of the cell's last run, or the `seconds` of its last that passed; None if none."""
        return self.cells.get(cell.id, {}).get(key)

    def times(self, name: str) -> list[float]:
        """Returns how long the cell with this id took the last twenty times that it passed."""
        return list(self.cells.get(name, {}).get("times", ()))

    def inputs(self, cell: Cell) -> str | None:
        """Returns a digest of what the result of the cell's last run depended on, if that run passed."""
        return self.last(cell, "inputs") if self.last(cell, "status") == "passed" else None

    def add(self, results: Iterable[CellResult]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with naming(self.file), regular(self.file.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # Another ci/matrix may add to the file, and may have done so since it was read.
            self.cells = self.read()
            for result in results:
                if result.status in ("skipped", "unchanged", "interrupted"):
                    continue
                entry = self.cells.setdefault(result.id, {})
                entry["status"], entry["time"] = result.status, int(time.time())
                if result.status == "passed":
                    entry["seconds"], entry["inputs"] = result.seconds, result.inputs
                    entry["times"] = [*self.times(result.id), result.seconds][-20:]
            write(self.file, self.cells)
        self.add_flakes(results)

    def add_flakes(self, results: Iterable[CellResult]) -> None:
        for result in results:
            for test in result.tests:
                if test.status == "flaky":
                    entry = {"time": int(time.time()), "cell": result.id, "test": test.name, "messages": test.messages}
                    with naming(self.flaky), regular(self.flaky, "a") as file:
                        file.write(json.dumps(entry) + "\n")

    def flakes(self, cell: Cell | CellResult) -> collections.Counter[str]:
        """Returns how often each test of the cell was flaky."""
        counts = collections.Counter[str]()
        with contextlib.suppress(OSError), regular(self.flaky) as lines:
            for line in lines:
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    entry = json.loads(line)
                    counts[str(entry["test"])] += entry["cell"] == cell.id
        return +counts
