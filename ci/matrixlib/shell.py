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
from .folders import removed
from .problems import Problem, StrPath
from .processes import said
from .results import CellResult
from .requirements import engine_for, missing_of


class Places:
    def __init__(self, project: StrPath) -> None:
        self.project = pathlib.Path(os.path.realpath(project))
        self.cells, self.locks, self.results, self.flakes = (self.project / ".ci" / name for name in ("cells", "locks", "results", "flakes.jsonl"))

    @property
    def program(self) -> str:
        return program(self.project)

    def folder(self, cell: Cell) -> pathlib.Path:
        return self.cells / cell.build

    def logs(self, cell: Cell | CellResult) -> pathlib.Path:
        return self.project / ".ci/logs" / cell.id

    def log(self, cell: Cell, step: Step, attempt: int = 0) -> pathlib.Path:
        return self.logs(cell) / (f"{step.name}.retry-{attempt}.log" if attempt else f"{step.name}.log")

    def result(self, cell: Cell | CellResult) -> pathlib.Path:
        return self.logs(cell) / "result.json"

    def metrics(self, cell: Cell) -> pathlib.Path:
        return self.logs(cell) / "metrics"

    def mend(self, cells: Sequence[Cell]) -> None:
        """Removes what has taken the place of a folder, or of a file that a run leaves for the next one: it would be in the way of each."""
        folders = [self.cells, self.locks, self.project / ".ci/logs", self.results, *map(self.folder, cells), *map(self.logs, cells)]
        files = [self.flakes, *(self.results / name for name in ("history.json", "history.lock", "latest.json", "junit.xml"))]
        files += [file for cell in cells for file in (self.locks / cell.build, self.folder(cell) / "temporary", self.result(cell))]
        wrong = [path for path in folders if not os.path.isdir(path)] + [path for path in files if not os.path.isfile(path)]
        for path in filter(os.path.lexists, wrong):
            removed(path, print)


def environment(places: Places, cell: Cell) -> dict[str, str]:
    """Returns the variables of a cell's commands besides those of ci/matrix itself. The first is SwiftPM's build folder."""
    ours = {"SWIFTPM_BUILD_DIR": str(places.folder(cell) / "build"), "CI_CELL": cell.id, "CI_METRICS": str(places.metrics(cell))}
    return ours | own(places, cell.env)


def own(places: Places, values: Mapping[str, str]) -> dict[str, str]:
    """Returns a cell's or a step's own variables, with {project} replaced by the project's folder."""
    return {name: PLACEHOLDER.sub(lambda _: str(places.project), value) for name, value in values.items()}


def command(places: Places, cell: Cell, step: Step, attempt: int = 0, tests: list[str] | None = None) -> str:
    """Returns the step's command; for another attempt, `tests` replaces the options that choose its tests, also the cell's shard's."""
    log, chosen = places.log(cell, step, attempt), step.tests if tests is None else shlex.join(tests)
    if tests is None and cell.shard and step.kind == "test":
        chosen = f"{chosen} {shlex.join(testlog.shard(cell.shard))}".strip()
    values = {axis: shlex.quote(value) for axis, value in cell.axes.items()} | {
        "flags": shlex.join(cell.flags), "tests": chosen, "folder": shlex.quote(str(places.folder(cell))),
        "report": f"--experimental-event-stream-output {shlex.quote(str(log.with_suffix('.events')))}"}
    # In parallel, XCTest says how tests went only there, unless they failed; otherwise, it writes no such file.
    if "--parallel" in f"{step.run} {values['flags']} {chosen}".split():
        values["report"] += f" --xunit-output {shlex.quote(str(log.with_suffix('.xml')))}"
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), step.run).strip()


@contextlib.contextmanager
def contained(places: Places, cell: Cell, command: Sequence[str], values: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Yields the command, or one that runs it in the cell's image if this machine lacks what the image has. Removes the container."""
    engine = engine_for(cell, str(places.project))
    if not engine:
        yield command
        return
    name, home = f"ci-matrix-{uuid.uuid4()}", values["TMPDIR"]
    # Its files are to be this user's. A debugger's rights are what sanitizers need.
    words = ["--user", f"{os.getuid()}:{os.getgid()}"] if engine == "docker" else []
    words += ["--cap-add", "SYS_PTRACE", "--security-opt", "seccomp=unconfined"]
    for folder in (places.project, home):
        words += ["--volume", f"{folder}:{folder}"]
    for variable in (*values, *(["CI"] if "CI" in os.environ else []), f"HOME={home}"):
        words += ["--env", variable]
    try:
        yield [engine, "run", "--rm", "--init", "--name", name, *words, "--workdir", str(places.project), cell.image, *command]
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
