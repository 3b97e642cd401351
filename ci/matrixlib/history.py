"""What earlier runs left: how long cells took, how they ended, and which tests were flaky."""

import json
import time

from .results import write


def known(entry):
    """What is there in the form in which it was written; somebody may have edited the file."""
    kinds = {"status": str, "seconds": (int, float), "time": int, "inputs": str, "times": list}
    return {key: value for key, value in dict(entry).items() if isinstance(value, kinds.get(key, ()))}


class History:
    def __init__(self, places):
        self.file = places.results / "history.json"
        self.flaky = places.flakes
        self.cells = self.read()

    def read(self):
        try:
            return {name: known(entry) for name, entry in json.loads(self.file.read_text()).items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}  # It was never written, or isn't ours.

    def seconds(self, cell):
        """How long the cell took when it last passed."""
        return self.cells.get(cell.id, {}).get("seconds")

    def times(self, name):
        """How long the cell of this id took when it passed, the last twenty times."""
        return [value for value in self.cells.get(name, {}).get("times", []) if isinstance(value, (int, float))]

    def status(self, cell):
        return self.cells.get(cell.id, {}).get("status")

    def time(self, cell):
        """When the cell was last run, in seconds since 1970."""
        return self.cells.get(cell.id, {}).get("time")

    def inputs(self, cell):
        """What the cell's result depended on when it last passed, if nothing has happened to it since."""
        return self.cells.get(cell.id, {}).get("inputs") if self.status(cell) == "passed" else None

    def add(self, results):
        self.cells = self.read()  # Another ci/matrix may have added to it since.
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

    def add_flakes(self, results):
        lines = [
            json.dumps({"time": int(time.time()), "cell": result.id, "test": test.name, "messages": test.messages})
            for result in results for test in result.tests if test.status == "flaky"]
        if lines:
            self.flaky.parent.mkdir(parents=True, exist_ok=True)
            with self.flaky.open("a") as file:
                file.write("".join(line + "\n" for line in lines))

    def flakes(self, cell):
        """How often each test of the cell was flaky."""
        counts = {}
        lines = self.flaky.read_text(errors="replace").splitlines() if self.flaky.exists() else []
        for line in lines:
            try:
                entry = json.loads(line)
                if entry["cell"] == cell.id:
                    counts[entry["test"]] = counts.get(entry["test"], 0) + 1
            except (ValueError, TypeError, KeyError):
                continue
        return counts
