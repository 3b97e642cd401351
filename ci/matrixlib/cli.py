"""The command line of ci/matrix."""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

from . import __version__, compare, describe, folders, github, report, results
from .archive import HOME, OUTER, PROGRAM, first
from .cells import Cell, Matrix, load
from .history import History
from .init import init
from .problems import Problem, StrPath, in_words, naming
from .run import code, run
from .selection import changed, matching, select
from .shell import Places
from .watch import watch


def parser() -> argparse.ArgumentParser:
    name = f"ci/{PROGRAM.name}" if HOME else PROGRAM.name
    top = argparse.ArgumentParser(
        prog=name, description=first("help.txt").replace("ci/matrix", name), formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--version", action="version", version=__version__)
    top.add_argument("--project", type=pathlib.Path, metavar="DIR",
                     help="the project's folder (default: the one that this program is in, or else the nearest with cells)")
    commands = top.add_subparsers(dest="command", required=True, metavar="list|run|explain|github|report|compare|init|clean")

    def verb(name: str, obey: Callable[[Namespace], int | None], what: str, selects: bool = False) -> Callable[..., object]:
        """Adds a command, which may select cells; returns what adds an option to it."""
        command = commands.add_parser(name, help=what, description=what)
        command.set_defaults(verb=command, obey=obey)
        option = command.add_argument
        option("--project", type=pathlib.Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        if selects:
            option("names", nargs="*", metavar="CELL", help="an id or a glob; !CELL leaves it out")
            option("-l", "--label", action="append", default=[],
                   help="smoke, full (smoke's cells, too) or nightly; several, or one with commas: any of them")
            option("-a", "--axis", action="append", default=[], metavar="AXIS=VALUE", help="several: all of them")
        return option

    verb("list", list_cells, "lists cells", selects=True)("--json", action="store_true", help="as JSON")
    option = verb("run", run_cells, "runs cells; those with the label smoke if nothing is said", selects=True)
    option("-j", "--jobs", type=jobs, default=1, metavar="N", help="cells at a time (default 1); auto: one for each two cores")
    option("--last-failed", action="store_true", help="of these, those that failed or were flaky last time, and those that need one of them")
    option("--changed", nargs="?", const="here", choices=("here", "ci"), metavar="ci",
           help="leave out cells that passed with the same files, definition and tools, in any environment; where CI is set, only with the word ci")
    option("--step", action="append", default=[], metavar="NAME", help="this step of the cells alone; several: these")
    option("--shard", type=shard, metavar="N/M", help="of tests, the Nth of M parts: all M together run each test once; other steps run in each")
    option("--after", type=pathlib.Path, metavar="FILE",
           help="leave out cells that need one that didn't pass by this file, which run --report or report --json wrote")
    option("--retries", type=at_least(0, int), metavar="N", help="how often failing tests are run again, instead of what the cells say")
    option("--timeout-factor", type=at_least(0.001, float), default=1, metavar="X", help="so many times the steps' time-outs")
    option("-v", "--verbose", action="store_true", help="print the output of steps as it comes")
    option("--watch", action="store_true", help="run again when a file that git tracks or would add has changed, until Control-C; "
           "while a run goes on, those that git tracks alone")
    option("--fail-fast", action="store_true", help="begin no more cells after one that failed")
    option("--fail-on-flaky", action="store_true", help="count flaky cells as failed")
    option("--install", action="store_true", help="first install the Debian packages that the cells need")
    option("--dry-run", action="store_true", help="print the commands")
    option("--report", type=pathlib.Path, metavar="FILE", help="write the results to a JSON file, too")
    verb("explain", explain, "says everything about cells")("cell", help="an id or a glob")
    verb("init", begin, "writes a first cells.toml, a copy of this program and a hosted workflow into the package, or newer ones of the latter two")
    verb("clean", remove, "removes what cells built, and their logs stay; of all cells if nothing is said", selects=True)
    verb("github", print_github, "prints the matrix of the hosted jobs, for $GITHUB_OUTPUT", selects=True)
    option = verb("report", print_report, "merges the results of runs; prints a table in Markdown")
    option("files", nargs="*", help="what run --report wrote (default: the last run's)")
    option("--expect", action="append", metavar="JOBS",
           help="count cells of these jobs that have no result as failed; as github prints them, without the word before =")
    for kind in ("junit", "json", "markdown", "html"):
        option(f"--{kind}", type=pathlib.Path, metavar="FILE", help=f"write {kind} there; -: to the output")
    option = verb("compare", compare_runs, "says what differs between two runs")
    option("before", type=pathlib.Path)
    option("after", type=pathlib.Path)
    option("--all", action="store_true", help="differences within noise, too")
    return top


def at_least(least: float, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def number(text: str) -> Any:
        with contextlib.suppress(ValueError):
            if least <= kind(text) < float("inf"):
                return kind(text)
        raise argparse.ArgumentTypeError(f"'{text}' is no number from {least} on")
    return number


def jobs(text: str) -> int:
    return max(1, (os.cpu_count() or 1) // 2) if text == "auto" else at_least(1, int)(text)


def shard(text: str) -> str:
    match = re.fullmatch(r"([1-9]\d{0,2})/([1-9]\d{0,2})", text, re.ASCII)
    if not match or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is no shard such as 2/4, the second of four")
    return text


def main(arguments: list[str]) -> int:
    sys.stdout = sys.stdout or open(os.devnull, "w")  # It is None if the parent process closed it.
    output, ended = os.path.realpath("/dev/stdout"), 0
    try:
        with naming(output):
            try:
                options = parsed(arguments)
                ended = int(options.obey(options) or 0)
            finally:  # Writing buffered output may fail: nobody reads it any more, or the disk is full.
                sys.stdout.flush()
    except Problem as problem:
        print(f"matrix: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        pass  # The program's end sees to what is left.
    except OSError as error:
        print(f"matrix: {in_words(error)}", file=sys.stderr)
        return 4
    except KeyboardInterrupt:
        print("matrix: interrupted", file=sys.stderr)
        return 130
    return ended


def parsed(arguments: list[str]) -> Namespace:
    """Returns the options. What comes after -- is their `rest`."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    # The name of a cell after --changed isn't the option's value.
    words = [word + "=here" if word == "--changed" and after != "ci" else word
             for word, after in itertools.zip_longest(arguments[:place], arguments[1:place])]
    options, unknown = parser().parse_known_args(words)
    options.rest, given = arguments[place + 1:], vars(options)
    names = given.get("names", given.get("files"))
    if names is not None and not any(word.startswith("-") for word in unknown):  # Of names between options, argparse takes only the first.
        names += unknown
        unknown = []
    for mistake, is_made in (
            (f"unrecognized arguments: {' '.join(unknown)}", unknown),
            ("what comes after -- is for the command of a step: ci/matrix run CELL -- …", "--" in arguments and options.command != "run"),
            ("--dry-run prints commands once: without --watch", given.get("watch") and options.dry_run),
            ("--report needs a file: ci/matrix report --json - prints the last run's results",
             given.get("report") and (str(options.report) == "-" or options.report.is_dir()))):
        if is_made:
            options.verb.error(mistake)
    options.places = Places(options.project or by_default(options.command))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # Logs have characters that not every terminal knows.
    return options


def by_default(command: str) -> pathlib.Path:
    """Returns the project that this program is in, which it says in a folder outside of it, or else the nearest that has cells."""
    if HOME is None:
        here = pathlib.Path(os.path.realpath("."))
        return next((folder for folder in (here, *here.parents) if (folder / "ci/cells.toml").exists()), here)
    if command == "init" and not OUTER.is_file():
        raise Problem(f"init writes into the package that --project names: {shlex.quote(str(PROGRAM))} --project . init")
    with contextlib.suppress(OSError):  # The current folder may be gone.
        if not pathlib.Path.cwd().is_relative_to(HOME):
            print(f"matrix: works on {HOME}; --project DIR names another one", file=sys.stderr)
    return HOME


def chosen(options: Namespace) -> tuple[Matrix, list[Cell]]:
    matrix = load(options.places.project)
    return matrix, select(matrix, options.names, options.label, options.axis)


def list_cells(options: Namespace) -> int:
    matrix, cells = chosen(options)
    rows = list(describe.rows(cells, History(options.places), str(options.places.project)))
    for line in [json.dumps(rows, indent=1)] if options.json else describe.listing(matrix, rows):
        print(line)
    return exit_code(cells)


def exit_code(cells: Sequence[Cell]) -> int:
    if not cells:
        print("matrix: nothing is selected", file=sys.stderr)
    return 0 if cells else 5


def run_cells(options: Namespace) -> int:
    by_default = all(name.startswith("!") for name in options.names) and not (options.label or options.axis or options.last_failed)
    if by_default:
        options.label = ["smoke"]

    def once() -> int:
        matrix, cells = chosen(options)
        if by_default and not cells and (others := select(matrix, options.names)):
            print(f"matrix: no cell has the label smoke, which run alone means; by name or label: {', '.join(cell.id for cell in others)}")
        if by_default and options.rest:  # Where no cell is named, they are for tests: a formatter doesn't know --filter.
            cells = [cell for cell in cells if any(step.takes("tests") for step in cell.steps)] or cells
        ended = run(options, changed(options, cells, History(options.places)), options.places)
        if matrix.megabytes and not options.dry_run and cells:
            with contextlib.suppress(OSError):  # How the run ended counts, and not whether anybody hears of this.
                for line in folders.keep_below(matrix.megabytes, options.places.cells):
                    print(line, file=sys.stderr)
        return ended

    return watch(options.places.project, once) if options.watch else once()


def explain(options: Namespace) -> None:
    cells, history = matching(load(options.places.project), options.cell), History(options.places)
    print("\n\n".join("\n".join(describe.explanation(cell, options.places, history)) for cell in cells))


def remove(options: Namespace) -> None:
    builds = dict.fromkeys(map(options.places.folder, chosen(options)[1]))
    print(*folders.clean(folder for folder in builds if folder.is_dir()), sep="\n")


def begin(options: Namespace) -> None:
    print(*init(options.places.project), f"next: {options.places.program} run", sep="\n")


def print_github(options: Namespace) -> int:
    matrix, cells = chosen(options)
    for name, jobs in zip(("matrix", "then"), github.jobs(matrix, cells)):
        if jobs or name == "matrix":
            print(f"{name}={json.dumps({'include': jobs})}")
    return exit_code(cells)


def print_report(options: Namespace) -> int:
    cells = report.merged([results.read(file) for file in reports(options)])
    try:
        for jobs in options.expect or ():
            cells += report.without_result(json.loads(jobs), cells)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Problem("--expect needs what ci/matrix github prints behind matrix= or then=") from None
    if pathlib.Path("-") not in (options.junit, options.json, options.html):
        options.markdown = options.markdown or "-"
    for file, made in (
            (options.junit, lambda: report.junit(cells)), (options.json, lambda: results.to_json(cells)),
            (options.html, lambda: report.page(cells, History(options.places))), (options.markdown, lambda: report.markdown(cells))):
        with contextlib.suppress(BrokenPipeError):  # The status says something, too.
            if file:
                results.write(file, made())
    return 0 if options.expect is None else code(cells)


def reports(options: Namespace) -> Sequence[StrPath]:
    """Returns the files to report, without those that are missing if it is said which cells they should have."""
    latest = options.places.results / "latest.json"
    if not (options.files or options.expect or latest.exists()):
        raise Problem(f"nothing has been run here yet: {options.places.program} run")
    asked = options.files or [latest]
    missing = [file for file in asked if options.expect and not os.path.exists(file)]
    with contextlib.suppress(BrokenPipeError):
        for file in missing:
            print(f"matrix: there is no {file}", file=sys.stderr)
    return [file for file in asked if file not in missing]


def compare_runs(options: Namespace) -> int:
    before, after = results.read(options.before), results.read(options.after)
    found = list(compare.differences(before, after, History(options.places).times))
    lines = [line for line, is_noise in found if options.all or not is_noise]
    if hidden := len(found) - len(lines):
        lines = [*(lines or ["no difference that is more than noise"]), f"within noise, and hidden: {hidden}; --all shows them"]
    with contextlib.suppress(BrokenPipeError):
        print("\n".join(lines or ["no difference"]))
    return 1 if compare.worse(before, after) else 0
