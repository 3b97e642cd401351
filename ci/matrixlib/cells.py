"""Reads the cells in ci/cells.toml, fills in their defaults, and checks them."""

import collections
import dataclasses
import fnmatch
import graphlib
import itertools
import os
import pathlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .archive import program
from .problems import Problem, there_is_no
from .requirements import KINDS as REQUIREMENTS, NAMED

# The labels that each label selects: a merge must pass what every commit must pass, and more.
LABELS = {"smoke": {"smoke"}, "full": {"smoke", "full"}, "nightly": {"nightly"}}
# Placeholders in a step's command, and in a variable's value. `${x}` belongs to the shell.
PLACEHOLDERS, OF_VALUES = {"flags", "report", "tests", "folder"}, {"project"}
PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_]+)\}")
# The exit code of ci/matrix when a step of each kind fails.
STEP_KINDS = {"check": 1, "test": 1, "build": 3, "setup": 4}
ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
STEP_NAME = re.compile(r"\w[\w.-]*")
# What hosts take for the name of a job and, with a word before it, of the files that it leaves.
JOB = re.compile(r"[A-Za-z0-9][\w. -]{0,99}", re.ASCII)
# The keys of the file, of a cell and of a step, with the type of each.
OF_FILE = {"axes": dict, "requires": dict, "runner": dict, "step": dict, "cell": list, "megabytes": int}
OF_CELL = {
    "id": str, "what": str, "labels": list, "axes": dict, "run": str, "steps": list, "build": str, "flags": list, "env": dict, "requires": list,
    "needs": list, "shards": int, "inputs": list, "optional": bool, "exclusive": bool, "retries": int, "timeout": int, "job": str, "runner": str,
    "exclude": list}
OF_RUNNER = {"runs-on": str, "container": str}
OF_STEP = {"name": str, "run": str, "kind": str, "timeout": int, "tests": str, "env": dict}
# The name of each type of value, and an example.
WRITTEN = {str: ("a text", '"…"'), list: ("a list", '["…"]'), int: ("a whole number", "5"), bool: ("true or false", "true"), dict: ("a table", "{ … }")}
LEAST, FILLED = {"timeout": 1, "retries": 0, "megabytes": 1, "shards": 1}, {"run", "steps", "labels"}
# Lists are of strings, except these.
OF_TABLES = {"cell", "steps", "exclude"}


@dataclasses.dataclass(frozen=True)
class Step:
    """A shell command. `tests` are the options with which a test step chooses its tests, replaced when failing tests are retried."""
    name: str
    run: str
    kind: str = "check"
    timeout: int = dataclasses.field(default=600, repr=False)  # not in the repr, which identifies results: they don't depend on it
    tests: str = ""
    env: dict[str, str] = dataclasses.field(default_factory=dict)

    def takes(self, name: str) -> bool:
        return name in PLACEHOLDER.findall(self.run)


@dataclasses.dataclass(frozen=True)
class Cell:
    id: str
    what: str
    labels: tuple[str, ...]
    axes: dict[str, Any]
    steps: tuple[Step, ...]
    build: str  # the cell whose build folder and flags this one uses
    flags: tuple[str, ...] = ()
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    requires: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # all cells that have to pass before, those that these need first
    inputs: tuple[str, ...] = ()  # globs of the files that its result depends on; empty: all of the project
    optional: bool = False
    exclusive: bool = False
    retries: int = dataclasses.field(default=2, repr=False)  # nor do they depend on this
    job: str = ""
    runner: str = "linux"
    image: str = ""  # its runner's
    shards: int = 1
    shard: str = ""  # of its tests, such as 2/4; all of them if it is empty


@dataclasses.dataclass(frozen=True)
class Matrix:
    axes: dict[str, Any]
    runners: dict[str, Any]
    cells: tuple[Cell, ...]
    megabytes: int = 0  # that builds may take together; 0: any number


class Reader:
    """Reads tables, and reports mistakes with their place."""

    def __init__(self, file: pathlib.Path, text: str) -> None:
        self.file = file
        self.axes, self.runners = dict[str, list[str]](), dict[str, dict[str, str]]()
        self.templates = dict[str, Step]()
        self.required = dict[tuple[str, str], list[str]]()  # what cells with a value require, by axis and value
        self.cells_at = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith("[[cell]]")]

    def fail(self, where: str | Cell, what: str) -> NoReturn:
        place = f"cell '{where.id}'" if isinstance(where, Cell) else where
        raise Problem(f"{self.file.name}: {place}: {what}")

    def check(self, is_right: object, where: str | Cell, what: str) -> None:
        if not is_right:
            self.fail(where, what)

    def one_of(self, known: Iterable[str], where: str | Cell, what: str, name: Any) -> None:
        if not isinstance(name, str) or name not in known:
            self.fail(where, there_is_no(what, name, known))

    def take(self, where: str, table: Any, types: Mapping[str, type]) -> dict[str, Any]:
        """Returns the table's values, each checked for the type that its key must have."""
        self.check(isinstance(table, dict), where, "is not a table")
        is_ours = types in (OF_FILE, OF_CELL, OF_RUNNER, OF_STEP)  # Other tables' keys are axes, or values, which may be called the same.
        for key, value in table.items():
            self.one_of(sorted(types), where, "key", key)
            self.value(where, key, value, types[key], key if is_ours else "")
        for name, value in sorted(table.get("env", {}).items()) if is_ours else ():
            self.check(isinstance(value, str), where, f"the value of '{name}' in 'env' is not a string")
            self.check(name not in ("SWIFTPM_BUILD_DIR", "TMPDIR", "CI_CELL", "CI_METRICS"), where, f"'{name}' is set by the matrix")
            self.check(re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII), where, f"'{name}' is no name of a variable")
            self.placeholders(where, value, OF_VALUES)
            self.check(not re.search(rf"\$\{{?{name}\b", value), where,
                       f"'{name}' is taken as it stands, and ${name} in it is no variable's value: export it in the command")
        return dict(table)

    def value(self, where: str, key: str, value: Any, kind: type, ours: str) -> None:
        called, written = WRITTEN[kind]
        example = "[[cell]]" if ours == "cell" else f"{key} = {written}"
        self.check(type(value) is kind, where, f"'{key}' is not {called}: write {example}")
        self.check(ours not in LEAST or value >= LEAST[ours], where, f"'{key}' is less than {LEAST.get(ours)}")
        self.check(ours not in FILLED or (value.strip() if kind is str else value), where, f"'{key}' is empty")
        items = value.values() if kind is dict else value if kind is list else [value]
        self.check(kind is not list or ours in OF_TABLES or all(isinstance(item, str) for item in items), where, f"'{key}' is not a list of strings")
        self.check(not any("\0" in str(item) for item in items), where, f"'{key}' has a zero byte, which no command can have")

    def placeholders(self, where: str, text: str, known: Iterable[str]) -> None:
        names = ", ".join(f"{{{name}}}" for name in sorted(known))
        for name in PLACEHOLDER.findall(text):
            self.check(name in known, where, f"there is no placeholder {{{name}}}; known: {names}; braces of the shell's have a space or a $")

    def step(self, where: str, name: str, table: Any) -> Step:
        values = self.take(where, table, OF_STEP)
        self.check("run" in values, where, "'run' is missing")
        self.one_of(STEP_KINDS, where, "kind", values.get("kind", "check"))
        self.placeholders(where, values["run"], PLACEHOLDERS | self.axes.keys())
        found = Step(**({"name": name} | values))
        self.check(found.kind != "test" or found.takes("report"), where,
                   "a test step needs {report}, by which swift test writes how each test went; a step without it has kind = \"check\"")
        self.check(not found.tests or found.takes("tests"), where, "'tests' has no effect: write {tests} where the command takes them")
        return found

    def steps(self, where: str, values: dict[str, Any]) -> tuple[Step, ...]:
        self.check("run" not in values or "steps" not in values, where, "has both 'run' and 'steps'")
        self.check("run" in values or "steps" in values, where, "needs either 'run' or 'steps'")
        of_all = {"timeout": values.pop("timeout")} if "timeout" in values else {}
        items = values.pop("steps", None) or [{"run": values.pop("run")}]
        found = tuple(self.own_step(where, item, of_all) for item in items)
        for name, count in collections.Counter(step.name for step in found).items():
            self.check(count == 1, where, f"two steps are called '{name}': {{ name = \"…\", run = \"…\" }} gives one a name")
            self.check(STEP_NAME.fullmatch(name), where, f"'{name}' is no name of a step: it is one of a file, too")
        return found

    def own_step(self, where: str, item: Any, of_all: dict[str, Any]) -> Step:
        """Returns a cell's step, which is said as the name of one, a command, or a table."""
        if isinstance(item, str):
            if "/" not in item and " " not in item and item not in self.templates:
                self.fail(where, f"{there_is_no('step', item, self.templates)}; a command of one word: {{ run = \"{item}\" }}")
            item = {"use" if item in self.templates else "run": item}
        self.check(isinstance(item, dict), where, "a step is a string or a table")
        values = of_all | item
        if "use" in item:
            self.one_of(self.templates, where, "step", values.pop("use"))
            values = dataclasses.asdict(self.templates[item["use"]]) | values
        return self.step(where, named_after(str(values.get("run", ""))), values)

    def place(self, number: int, table: Any) -> str:
        """Returns a cell's name for messages; a cell without an id is named by its position."""
        if not isinstance(table, dict):
            return "a cell"
        if "id" in table:
            return f"cell '{table['id']}'"
        return f"cell {number}" + (f" ([[cell]] in line {self.cells_at[number - 1]})" if number <= len(self.cells_at) else "")

    def cells(self, number: int, table: Any) -> Iterator[Cell]:
        """Yields a cell for each combination of the values that its axes list, without those that `exclude` has."""
        where = self.place(number, table)
        values = self.take(where, table, OF_CELL)
        axes, rules = values.get("axes", {}), values.pop("exclude", [])
        lists = {axis: listed if listed and isinstance(listed, list) else [listed] for axis, listed in axes.items()}
        for axis, listed in lists.items():
            self.one_of(self.axes, where, "axis", axis)
            for value in listed:
                self.one_of(self.axes[axis], where, f"value of the axis '{axis}' called", value)
        self.check(not rules or list in map(type, axes.values()), where, "'exclude' has no effect: no axis has a list of values")
        for rule in rules:
            for axis, value in self.take(f"{where}: exclude", rule, dict.fromkeys(axes, str)).items():
                self.one_of(lists[axis], where, f"value of the axis '{axis}' in the cell called", value)
        in_ids = dict[str, dict[str, str]]()
        for axis in (axis for axis, listed in axes.items() if isinstance(listed, list)):
            parts = [re.sub(r"[^a-z0-9.]+", "-", value.lower()).strip("-.") for value in lists[axis]]
            fit = all(map(ID.fullmatch, parts)) and len({*parts}) == len({*lists[axis]})  # Others, such as a/b beside a-b, have numbers.
            in_ids[axis] = dict(zip(lists[axis], parts if fit else map(str, range(1, len(parts) + 1))))
        for combination in itertools.product(*lists.values()):
            chosen = dict(zip(lists, combination))
            if not any(rule.items() <= chosen.items() for rule in rules):
                own = [parts[chosen[axis]] for axis, parts in in_ids.items()]
                names = {key: "-".join([values[key], *own]) for key in ("id", "build", "job") if key in values}
                yield self.cell(self.place(number, names), values | names | {"axes": chosen})

    def cell(self, where: str, values: dict[str, Any]) -> Cell:
        for key in ("id", "what"):
            self.check(values.get(key), where, f"'{key}' is missing")
        self.check("\n" not in values["what"], where, "'what' has a line break: it is said in one line")
        self.check(ID.fullmatch(values["id"]), where, "an id is made of lower-case letters, digits, '-' and '.'")
        self.check(JOB.fullmatch(values.get("job", "a")), where,
                   "a job's name is made of at most a hundred ASCII letters, digits, spaces and ._-, and begins with one of the first two")
        self.check(values.get("build") != values["id"], where, "'build' names another cell, and this one builds in its own folder without it")
        for label in values.setdefault("labels", ["full"]):
            self.one_of(LABELS, where, "label", label)
        self.one_of(self.runners, where, "runner", values.setdefault("runner", "linux"))
        steps = self.steps(where, values)
        axes = values["axes"] = {axis: known[0] for axis, known in self.axes.items()} | values["axes"]
        self.requirements(where, own := values.get("requires", []))
        of_axes = [name for value in axes.items() for name in self.required.get(value, ())]
        values["requires"] = dict.fromkeys(with_values(name, axes) for name in (*of_axes, *own))
        for key in ("labels", "flags", "requires", "needs", "inputs"):
            values[key] = tuple(values.get(key, ()))
        image = with_values(self.runners[values["runner"]].get("container", ""), axes)
        return Cell(steps=steps, image=image, **({"build": values["id"]} | values))

    def requirements(self, where: str, names: Iterable[str]) -> None:
        for requirement in names:
            kind, _, name = requirement.partition(":")
            self.one_of(sorted(REQUIREMENTS), where, "requirement", kind)
            self.check("\n" not in name, where, f"the requirement '{kind}' has a line break in its name: it is said in one line")
            need = f"needs a name: {kind}:X" if kind in NAMED else "has no name"
            self.check(name if kind in NAMED else requirement == kind, where, f"the requirement '{kind}' {need}")

    def matrix(self, table: Any) -> Matrix:
        table = self.take("top level", table, OF_FILE)
        self.axes, self.runners = table.get("axes", {}), table.get("runner", {"linux": {}})
        for axis, known in self.axes.items():
            self.check(isinstance(known, list) and known and all(isinstance(value, str) for value in known), f"axis '{axis}'",
                       "is not a list of strings, of which the first is what cells have that say nothing")
            for value in known:
                self.check(known.count(value) == 1, f"axis '{axis}'", f"'{value}' stands there twice")
        for name, runner in self.runners.items():
            self.take(f"runner '{name}'", runner, OF_RUNNER)
        self.templates = {name: self.step(f"step '{name}'", name, value) for name, value in table.get("step", {}).items()}
        self.check(table.get("cell"), "top level", "has no [[cell]]")
        for axis, values in self.take("requires", table.get("requires", {}), dict.fromkeys(self.axes, dict)).items():
            for value, names in self.take(f"requires.{axis}", values, dict.fromkeys(self.axes[axis], list)).items():
                self.requirements(f"requires.{axis}: '{value}'", names)
                self.required[axis, value] = names
        cells = [shard for number, values in enumerate(table["cell"], 1) for cell in self.cells(number, values) for shard in self.shards(cell)]
        cells = [self.joined(cell, cells) for cell in cells]
        needs, of_jobs = self.needed(cells), dict[str, tuple[Cell, str]]()
        for cell in cells:
            machine = with_values(str(self.runners[cell.runner]), cell.axes)
            first, other = of_jobs.setdefault(cell.job, (cell, machine))
            self.check(machine == other, first, f"is in one hosted job with '{cell.id}', which has another runner")
        cells = [dataclasses.replace(cell, needs=needs[cell.id]) for cell in cells]
        return Matrix(self.axes, self.runners, tuple(cells), table.get("megabytes", 0))

    def shards(self, cell: Cell) -> Iterator[Cell]:
        """Yields a cell for each shard; they share a build, but no hosted job."""
        if cell.shards == 1:
            yield cell
            return
        problem = unsharded(cell)
        self.check(not problem, cell, f"'shards' has no effect: {problem}")
        build = f"{cell.id}-1-of-{cell.shards}" if cell.build == cell.id else cell.build
        for number in range(1, cell.shards + 1):
            part = f"-{number}-of-{cell.shards}"
            yield dataclasses.replace(cell, id=cell.id + part, shard=f"{number}/{cell.shards}", build=build, job=(cell.job or cell.id) + part)

    def needed(self, cells: Sequence[Cell]) -> dict[str, tuple[str, ...]]:
        """Returns by cell all that it needs: before each, those that this one needs itself."""
        ids, direct, found = [cell.id for cell in cells], dict[str, list[str]](), dict[str, tuple[str, ...]]()
        for cell in cells:
            direct[cell.id] = []
            for name in cell.needs:
                direct[cell.id] += (names := fnmatch.filter(ids, with_values(name, cell.axes)))
                if not names:
                    self.fail(cell, f"'needs': {there_is_no('cell', name, ids)}")
        try:
            for name in graphlib.TopologicalSorter(direct).static_order():
                found[name] = tuple(dict.fromkeys(other for one in direct[name] for other in (*found[one], one)))
        except graphlib.CycleError as error:
            circle = error.args[1][::-1]
            self.fail(f"cell '{circle[0]}'", f"'needs' goes in a circle: {' needs '.join(circle)}")
        return found

    def joined(self, cell: Cell, cells: Sequence[Cell]) -> Cell:
        """Returns the cell with the flags, and by default the job, of the cell whose build folder it uses."""
        self.check(sum(other.id == cell.id for other in cells) == 1, cell, "stands there twice")
        owner = next((other for other in cells if other.id == cell.build == other.build), cell)
        self.check(owner.id == cell.build, cell, f"there is no cell '{cell.build}' with a build folder of its own")
        if cell.flags:
            self.check(owner is cell, cell, f"has the flags of '{owner.id}', whose build folder it uses")
            is_taken = any(step.takes("flags") for other in cells if other.build == cell.id for step in other.steps)
            self.check(is_taken, cell, "'flags' has no effect: write {flags} where a command takes them")
        return dataclasses.replace(cell, flags=owner.flags, job=cell.job or owner.job or owner.id)


def load(project: str | os.PathLike[str]) -> Matrix:
    file = pathlib.Path(project) / "ci/cells.toml"
    try:
        text = file.read_text(encoding="utf-8-sig")  # Some editors begin a file with a byte order mark.
        table = tomllib.loads(text)
    except FileNotFoundError:
        raise Problem(f"there is no {file}: {instead(pathlib.Path(os.path.realpath(project)))}") from None
    except OSError as error:
        raise Problem(f"{file}: {error.strerror}") from None
    except RecursionError:
        raise Problem(f"{file.name}: has too many brackets in brackets") from None
    except ValueError as error:
        raise Problem(f"{file.name}: {'is not UTF-8' if isinstance(error, UnicodeDecodeError) else error}") from None
    return Reader(file, text).matrix(table)


def instead(project: pathlib.Path) -> str:
    """Returns what to do if a folder has no cells."""
    if not project.is_dir():
        return "there is no such folder either"
    if above := next((folder for folder in project.parents if (folder / "ci/cells.toml").exists()), None):
        return f"the nearest is {above}'s: {program(above)}"
    if (project / "Package.swift").exists():
        return f"{program(project)} init writes a first one"
    return "init writes a first one for a Swift package, and this is none"


def with_values(text: str, axes: Mapping[str, str]) -> str:
    """Returns the text of a runner or a requirement with the values of the axes that it names, as in swift:{swift}."""
    return PLACEHOLDER.sub(lambda match: axes.get(match[1], match[0]), text)


def unsharded(cell: Cell) -> str:
    """Returns why a cell can't run a shard of its tests; an empty text if it can."""
    for step in cell.steps:
        if step.kind == "test" and not step.takes("tests"):
            return f"write {{tests}} where the command of '{step.name}' takes the options that choose tests"
    return "" if any(step.kind == "test" for step in cell.steps) else "it has no step of the kind test"


def named_after(command: str) -> str:
    """Returns the name of a step that has none: that of the program that it runs."""
    name = command.split()[0].rpartition("/")[2] if command.strip() else ""
    return name if STEP_NAME.fullmatch(name) else "run"
