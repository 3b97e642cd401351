"""The commands of a cell as a shell runs them, here and wherever the output of `--dry-run` is pasted."""

import contextlib
import os
import pathlib
import shlex
import uuid
from collections.abc import Iterator, Mapping, Sequence

from . import testlog
from .archive import program
from .cells import PLACEHOLDER, Cell, Step
from .problems import Problem, StrPath
from .processes import said
from .results import CellResult
from .requirements import engine_for, missing_of
from .temporary import removed


class Places:
    """The places of a cell's files, below the project's folder .ci."""

    def __init__(self, project: StrPath) -> None:
        self.project = pathlib.Path(os.path.realpath(project))
        self.results = self.project / ".ci/results"
        self.flakes = self.project / ".ci/flakes.jsonl"

    @property
    def program(self) -> str:
        return program(self.project)

    def folder(self, cell: Cell) -> pathlib.Path:
        return self.project / ".ci/cells" / cell.build

    def logs(self, cell: Cell | CellResult) -> pathlib.Path:
        return self.project / ".ci/logs" / cell.id

    def log(self, cell: Cell, step: Step, attempt: int = 0) -> pathlib.Path:
        return self.logs(cell) / (f"{step.name}.retry-{attempt}.log" if attempt else f"{step.name}.log")

    def events(self, cell: Cell, step: Step, attempt: int = 0) -> pathlib.Path:
        return self.log(cell, step, attempt).with_suffix(".events")

    def result(self, cell: Cell | CellResult) -> pathlib.Path:
        return self.logs(cell) / "result.json"

    def metrics(self, cell: Cell) -> pathlib.Path:
        return self.logs(cell) / "metrics"

    def mend(self, cells: Sequence[Cell]) -> None:
        """Removes what has taken the place of a folder, or of a file that a run leaves for the next one: it would be in the way of each."""
        folders = [self.project / ".ci/cells", self.project / ".ci/logs", self.results]
        folders += [place for cell in cells for place in (self.folder(cell), self.logs(cell))]
        files = [self.flakes, *(self.results / name for name in ("history.json", "history.lock", "latest.json", "junit.xml"))]
        files += [file for cell in cells for file in (self.folder(cell) / "lock", self.folder(cell) / "temporary", self.result(cell))]
        for file in [*filter(os.path.lexists, [*folders, *files])]:
            if not (os.path.isdir if file in folders else os.path.isfile)(file):
                removed(str(file), print)


def environment(places: Places, cell: Cell) -> dict[str, str]:
    """Returns the variables of a cell's commands besides those of ci/matrix itself. The first is SwiftPM's build folder."""
    ours = {"SWIFTPM_BUILD_DIR": str(places.folder(cell) / "build"), "CI_CELL": cell.id, "CI_METRICS": str(places.metrics(cell))}
    return ours | own(places, cell.env)


def own(places: Places, values: Mapping[str, str]) -> dict[str, str]:
    """Returns a cell's or a step's own variables, with {project} replaced by the project's folder."""
    return {name: PLACEHOLDER.sub(lambda _: str(places.project), value) for name, value in values.items()}


def command(places: Places, cell: Cell, step: Step, attempt: int = 0, tests: list[str] | None = None) -> str:
    """Returns the step's command; for another attempt, `tests` replaces the step's own options that choose its tests."""
    events = shlex.quote(str(places.events(cell, step, attempt)))
    values = {axis: shlex.quote(value) for axis, value in cell.axes.items()} | {
        "flags": shlex.join(cell.flags), "report": f"--experimental-event-stream-output {events}",
        "tests": tests_of(cell, step) if tests is None else shlex.join(tests), "folder": shlex.quote(str(places.folder(cell)))}
    # In parallel, XCTest says how tests went only there, unless they failed; otherwise, it writes no such file.
    if "--parallel" in f"{step.run} {values['flags']} {values['tests']}".split():
        values["report"] += f" --xunit-output {shlex.quote(str(testlog.xunit(places.events(cell, step, attempt))))}"
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), step.run).strip()


def tests_of(cell: Cell, step: Step) -> str:
    """Returns the options that choose the tests of a step: its own, and those of the cell's shard."""
    return f"{step.tests} {shlex.join(testlog.shard(cell.shard))}".strip() if cell.shard and step.kind == "test" else step.tests


@contextlib.contextmanager
def contained(places: Places, cell: Cell, command: Sequence[str], values: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Yields the command, or one that runs it in the cell's image if this machine lacks what the image has. Removes the container."""
    engine = engine_for(cell, str(places.project))
    if not engine:
        yield command
        return
    name = f"ci-matrix-{uuid.uuid4()}"
    # Its files are to be this user's. A debugger's rights are what sanitizers need.
    user = ["--user", f"{os.getuid()}:{os.getgid()}"] if engine == "docker" else []
    rights = ["--cap-add", "SYS_PTRACE", "--security-opt", "seccomp=unconfined"]
    folders = [word for folder in (places.project, values["TMPDIR"]) for word in ("--volume", f"{folder}:{folder}")]
    variables = [word for name in (*values, *(["CI"] if "CI" in os.environ else [])) for word in ("--env", name)]
    variables += ["--env", f"HOME={values['TMPDIR']}"]
    try:
        yield [engine, "run", "--rm", "--init", "--name", name, *user, *rights, *folders, *variables, "--workdir", str(places.project), cell.image, *command]
    finally:  # It goes on without the engine's command, which may have been ended.
        said(engine, "rm", "--force", name)


# A failing command ends the step, even in the middle of a pipe.
SHELL = ["bash", "-eo", "pipefail"]


def exports(values: Mapping[str, str]) -> list[str]:
    return [f"export {name}={shlex.quote(value)}" for name, value in values.items()]


def script(places: Places, cell: Cell) -> list[str]:
    """Returns lines that do what running the cell does, in a shell of their own."""
    lines = [
        f"{shlex.join(SHELL)} /dev/fd/3 3<<'CELL' </dev/null",
        f"# {cell.id}: {cell.what}",
        *([f"# would run in {cell.image} with {engine}"] if (engine := engine_for(cell, str(places.project))) else []),
        *([f"# would be skipped here: {reason}"] if (reason := missing_of(cell, str(places.project))) else []),
        f"cd {shlex.quote(str(places.project))}",
        *exports(environment(places, cell)),
        "export TMPDIR=$(mktemp -d /tmp/ci-matrix.XXXXXX)",
        "trap 'mount | grep -F \"$TMPDIR/\" || rm -rf \"$TMPDIR\"' EXIT  # What is mounted there isn't ours.",
        f"mkdir -p {shlex.quote(str(places.folder(cell)))} {shlex.quote(str(places.logs(cell)))}",
    ]
    for step in cell.steps:
        text = command(places, cell, step)
        if "CELL" in text.splitlines():
            raise Problem(f"{cell.id}: a line of {step.name} can't be printed: CELL")
        # A subshell, so that its variables, its current folder and its exit don't affect the next step.
        lines += [f"( # {step.name}: a {step.kind} that may take {step.timeout} s", *exports(own(places, step.env)), text, ")"]
    return [*lines, "CELL"]
