"""The commands of a cell as a shell runs them, here and where `--dry-run` is pasted."""

import os
import pathlib
import shlex

from .cells import PLACEHOLDER
from .problems import Problem, program
from .requirements import missing_of


class Places:
    """Where things of a cell lie: below .ci of the project."""

    def __init__(self, project):
        self.project = pathlib.Path(os.path.realpath(project))
        self.results = self.project / ".ci/results"
        self.flakes = self.project / ".ci/flakes.jsonl"

    @property
    def program(self):
        return program(self.project)

    def folder(self, cell):
        return self.project / ".ci/cells" / cell.build

    def logs(self, cell):
        return self.project / ".ci/logs" / cell.id

    def log(self, cell, step, attempt=0):
        return self.logs(cell) / (f"{step.name}.retry-{attempt}.log" if attempt else f"{step.name}.log")

    def events(self, cell, step, attempt=0):
        return self.log(cell, step, attempt).with_suffix(".events")

    def result(self, cell):
        return self.logs(cell) / "result.json"

    def metrics(self, cell):
        return self.logs(cell) / "metrics"


def environment(places, cell):
    """What a cell's commands have in their environment beside what ci/matrix has. SwiftPM builds where the first says."""
    ours = {"SWIFTPM_BUILD_DIR": str(places.folder(cell) / "build"), "CI_CELL": cell.id, "CI_METRICS": str(places.metrics(cell))}
    return ours | own(places, cell.env)


def own(places, values):
    """A cell's or a step's own variables; {project} in them is its folder."""
    return {name: PLACEHOLDER.sub(lambda _: str(places.project), value) for name, value in values.items()}


def command(places, cell, step, attempt=0, tests=None):
    """The step's command; for another attempt with the options that choose its tests instead of the step's own."""
    events = shlex.quote(str(places.events(cell, step, attempt)))
    values = {
        "flags": shlex.join(cell.flags), "report": f"--experimental-event-stream-output {events}",
        "tests": step.tests if tests is None else shlex.join(tests), "folder": shlex.quote(str(places.folder(cell)))}
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), step.run).strip()


# A failing command ends the step, in the middle of a pipe, too.
SHELL = ["bash", "-eo", "pipefail"]


def exports(values):
    return [f"export {name}={shlex.quote(value)}" for name, value in values.items()]


def script(places, cell):
    """Lines that do what running the cell does, in a shell of their own."""
    lines = [
        f"{shlex.join(SHELL)} /dev/fd/3 3<<'CELL' </dev/null",
        f"# {cell.id}: {cell.what}",
        *([f"# would be skipped here: {reason}"] if (reason := missing_of(cell, str(places.project))) else []),
        f"cd {shlex.quote(str(places.project))}",
        *exports(environment(places, cell)),
        "export TMPDIR=$(mktemp -d /tmp/ci-matrix.XXXXXX)",
        "trap 'rm -rf \"$TMPDIR\"' EXIT",
        f"mkdir -p {shlex.quote(str(places.folder(cell)))} {shlex.quote(str(places.logs(cell)))}",
    ]
    for step in cell.steps:
        text = command(places, cell, step)
        if "CELL" in text.splitlines():
            raise Problem(f"{cell.id}: a line of {step.name} can't be printed: CELL")
        # A shell of its own: what it sets, where it goes and that it exits is no matter of the next.
        lines += [f"( # {step.name}: a {step.kind} that may take {step.timeout} s", *exports(own(places, step.env)), text, ")"]
    return [*lines, "CELL"]
