"""The history of earlier runs: how long cells took, how they ended, and which tests were flaky."""

import collections
import contextlib
import fcntl
import json
import time
from collections.abc import Sequence
from typing import Any

from .cells import Cell
from .problems import naming, regular
from .results import CellResult, made, write
from .shell import Places

KINDS = {"status": str, "seconds": float, "time": float, "inputs": str, "times": list[float]}


class History:
    def __init__(self, places: Places) -> None:
        self.file, self.flaky = places.results / "history.json", places.flakes
        self.cells = self.read()

    def read(self) -> dict[str, dict[str, Any]]:
        """Returns the values by cell and key, without those that don't have the right type; somebody may have edited the file."""
        found = dict[str, dict[str, Any]]()
        # The file was never written, or isn't ours.
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, RecursionError), regular(self.file) as file:
            for name, entry in json.load(file).items():
                found[name] = {}
                for key, kind in KINDS.items():
                    with contextlib.suppress(TypeError, KeyError):
                        found[name][key] = made(kind, entry[key])
        return found

    def last(self, cell: Cell | CellResult, key: str) -> Any:
        """Returns the `status` or `time` (since 1970) of the cell's last run, or the `seconds` of its last that passed; None if none."""
        return self.cells.get(cell.id, {}).get(key)

    def times(self, name: str) -> list[float]:
        """Returns how long the cell with this id took the last twenty times that it passed."""
        return list(self.cells.get(name, {}).get("times", ()))

    def inputs(self, cell: Cell) -> str | None:
        """Returns a digest of what the result of the cell's last run depended on, if that run passed."""
        return self.last(cell, "inputs") if self.last(cell, "status") == "passed" else None

    def add(self, results: Sequence[CellResult]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with naming(self.file), regular(self.file.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # Another ci/matrix may add to the file, and may have done so since it was read.
            self.cells = self.read()
            for result in results:
                if result.status in ("skipped", "unchanged", "interrupted") or result.time < (self.last(result, "time") or 0) <= time.time():
                    continue  # Another run of the cell ended later. A time to come is one of a clock that was wrong.
                entry = self.cells.setdefault(result.id, {})
                entry["status"], entry["time"] = result.status, result.time
                if result.status == "passed":
                    entry["seconds"], entry["inputs"] = result.seconds, result.inputs
                    entry["times"] = [*self.times(result.id), result.seconds][-20:]
            write(self.file, self.cells)
        for result, test in [(result, test) for result in results for test in result.tests if test.status == "flaky"]:
            entry = {"time": int(time.time()), "cell": result.id, "test": test.name, "messages": test.messages}
            with naming(self.flaky), regular(self.flaky, "a") as file:
                file.write(json.dumps(entry) + "\n")

    def flakes(self, cell: Cell | CellResult) -> collections.Counter[str]:
        counts = collections.Counter[str]()
        with contextlib.suppress(OSError), regular(self.flaky) as lines:
            for line in lines:
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    entry = json.loads(line)
                    counts[str(entry["test"])] += entry["cell"] == cell.id
        return +counts
