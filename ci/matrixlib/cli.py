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
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import __version__, compare, describe, folders, github, report, results
from .archive import HOME, OUTER, PROGRAM, first
from .cells import Cell, Matrix, load
from .history import History
from .init import init
from .problems import Problem, StrPath, in_words, naming
from .run import code, run
from .screen import to_nowhere
from .selection import changed, matching, select
from .shell import Places
from .watch import watch


def parser() -> argparse.ArgumentParser:
    name = f"ci/{PROGRAM.name}" if HOME else PROGRAM.name
    top = argparse.ArgumentParser(
        prog=name, description=first("help.txt").replace("ci/matrix", name), formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--version", action="version", version=__version__)
    top.add_argument("--project", type=pathlib.Path, metavar="DIR", help="the project's folder (default: the one that this program is in, or else the nearest with cells)")
    commands = top.add_subparsers(dest="command", required=True, metavar="list|run|explain|github|report|compare|init|clean")

    def verb(name: str, obey: Callable[[Namespace], int], what: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=what, description=what)
        command.set_defaults(verb=command, obey=obey)
        command.add_argument("--project", type=pathlib.Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        return command

    def selecting(name: str, obey: Callable[[Namespace], int], what: str) -> argparse.ArgumentParser:
        command = verb(name, obey, what)
        command.add_argument("names", nargs="*", metavar="CELL", help="an id or a glob; !CELL leaves it out")
        command.add_argument("-l", "--label", action="append", default=[], help="smoke, full (smoke's cells, too) or nightly; several, or one with commas: any of them")
        command.add_argument("-a", "--axis", action="append", default=[], metavar="AXIS=VALUE", help="several: all of them")
        return command

    selecting("list", list_cells, "lists cells").add_argument("--json", action="store_true", help="as JSON")
    add_options_of_run(selecting("run", run_cells, "runs cells; those with the label smoke if nothing is said"))
    verb("explain", explain, "says everything about cells").add_argument("cell", help="an id or a glob")
    verb("init", begin, "writes a first cells.toml, a copy of this program and a hosted workflow into the package, or newer ones of the latter two")
    selecting("clean", remove, "removes what cells built, and their logs stay; of all cells if nothing is said")
    selecting("github", print_github, "prints the matrix of the hosted jobs, for $GITHUB_OUTPUT")
    command = verb("report", print_report, "merges the results of runs; prints a table in Markdown")
    command.add_argument("files", nargs="*", help="what run --report wrote (default: the last run's)")
    command.add_argument("--expect", action="append", metavar="JOBS", help="count cells of these jobs that have no result as failed; as github prints them, without the word before =")
    for kind in ("junit", "json", "markdown", "html"):
        command.add_argument(f"--{kind}", type=pathlib.Path, metavar="FILE", help=f"write {kind} there; -: to the output")
    command = verb("compare", compare_runs, "says what differs between two runs")
    command.add_argument("before", type=pathlib.Path)
    command.add_argument("after", type=pathlib.Path)
    command.add_argument("--all", action="store_true", help="differences within noise, too")
    return top


def add_options_of_run(command: argparse.ArgumentParser) -> None:
    command.add_argument("-j", "--jobs", type=jobs, default=1, metavar="N", help="cells at a time (default 1); auto: one for each two cores")
    command.add_argument("--last-failed", action="store_true", help="of these, those that failed or were flaky when they were last run here, and those that need one of them")
    command.add_argument(
        "--changed", nargs="?", const="here", choices=("here", "ci"), metavar="ci",
        help="leave out cells that passed and whose files, definition and tools are the same, whatever the environment is; where CI is set, only with the word ci")
    command.add_argument("--step", action="append", default=[], metavar="NAME", help="this step of the cells alone; several: these")
    command.add_argument("--shard", type=shard, metavar="N/M", help="of tests, the Nth of M parts: all M together run each test once; other steps run in each")
    command.add_argument("--after", type=pathlib.Path, metavar="FILE", help="leave out cells that need one that didn't pass by this file, which run --report or report --json wrote")
    command.add_argument("--retries", type=at_least(0, int), metavar="N", help="how often failing tests are run again, instead of what the cells say")
    command.add_argument("--timeout-factor", type=at_least(0.001, float), default=1, metavar="X", help="so many times the steps' time-outs")
    command.add_argument("-v", "--verbose", action="store_true", help="print the output of steps as it comes")
    command.add_argument(
        "--watch", action="store_true",
        help="run again when a file that git tracks or would add has changed, until Control-C; while a run goes on, those that git tracks alone")
    command.add_argument("--fail-fast", action="store_true", help="begin no more cells after one that failed")
    command.add_argument("--fail-on-flaky", action="store_true", help="count flaky cells as failed")
    command.add_argument("--install", action="store_true", help="first install the Debian packages that the cells need")
    command.add_argument("--dry-run", action="store_true", help="print the commands")
    command.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write the results to a JSON file, too")


def at_least(least: float, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def number(text: str) -> Any:
        try:
            if least <= kind(text) < float("inf"):
                return kind(text)
        except ValueError:
            pass
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
    output = os.path.realpath("/dev/stdout")
    try:
        with naming(output):
            try:
                return obeyed(arguments)
            finally:  # Writing buffered output may fail: nobody reads it any more, or the disk is full.
                sys.stdout.flush()
    except Problem as problem:
        print(f"matrix: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        to_nowhere(sys.stdout)
        return 0
    except OSError as error:
        if error.filename == output:
            to_nowhere(sys.stdout)
        print(f"matrix: {in_words(error)}", file=sys.stderr)
        return 4
    except KeyboardInterrupt:
        print("matrix: interrupted", file=sys.stderr)
        return 130


def obeyed(arguments: list[str]) -> int:
    options = parsed(arguments)
    if mistake := next(mistakes(options, "--" in arguments), None):
        options.verb.error(mistake)
    if options.project is None:
        options.project = by_default(options.command)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # Logs have characters that not every terminal knows.
    done: int = options.obey(options)
    return done


def parsed(arguments: list[str]) -> Namespace:
    """Returns the options. What comes after -- is their `rest`."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    # The name of a cell after --changed isn't the option's value.
    words = [
        word + "=here" if word == "--changed" and after != "ci" else word for word, after in itertools.zip_longest(arguments[:place], arguments[1:place])]
    options, unknown = parser().parse_known_args(words)
    options.unknown = unknown
    options.rest = arguments[place + 1:]
    if not any(word.startswith("-") for word in options.unknown):  # If options stand between names, argparse takes only the first ones.
        for names in ("names", "files"):
            if names in options:
                getattr(options, names).extend(options.unknown)
                options.unknown = []
    return options


def mistakes(options: Namespace, separated: bool) -> Iterator[str]:
    """Yields what options can't mean together, or at all."""
    if options.unknown:
        yield f"unrecognized arguments: {' '.join(options.unknown)}"
    if separated and options.command != "run":
        yield "what comes after -- is for the command of a step: ci/matrix run CELL -- …"
    if options.command != "run":
        return
    if options.watch and options.dry_run:
        yield "--dry-run prints commands once: without --watch"
    if str(options.report) == "-":
        yield "--report needs a file, since a run tells its progress on the output: ci/matrix report --json - prints the last run's results"
    if options.report and options.report.is_dir():
        yield "--report needs a file, and this is a folder"


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
    matrix = load(options.project)
    return matrix, select(matrix, options.names, options.label, options.axis)


def list_cells(options: Namespace) -> int:
    matrix, cells = chosen(options)
    places = Places(options.project)
    rows = list(describe.rows(cells, History(places), str(places.project)))
    lines = [json.dumps(rows, indent=1)] if options.json else describe.listing(matrix, rows)
    for line in lines:
        print(line)
    return exit_code(cells)


def exit_code(cells: Sequence[Cell]) -> int:
    """Returns the exit code of commands that print something about cells."""
    if not cells:
        print("matrix: nothing is selected", file=sys.stderr)
    return 0 if cells else 5


def run_cells(options: Namespace) -> int:
    by_default = all(name.startswith("!") for name in options.names) and not (options.label or options.axis or options.last_failed)
    if by_default:
        options.label = ["smoke"]
    places = Places(options.project)

    def once() -> int:
        matrix, cells = chosen(options)
        if by_default and not cells and (others := select(matrix, options.names)):
            print(f"matrix: no cell has the label smoke, which run alone means; by name or label: {', '.join(cell.id for cell in others)}")
        if by_default and options.rest:  # Where no cell is named, they are for tests: a formatter doesn't know --filter.
            cells = [cell for cell in cells if any(step.takes("tests") for step in cell.steps)] or cells
        ended = run(options, changed(options, cells, History(places)), places)
        for line in folders.keep_below(matrix.megabytes, places.cells) if matrix.megabytes and not options.dry_run and cells else ():
            print(line, file=sys.stderr)
        return ended

    return watch(places.project, once) if options.watch else once()


def explain(options: Namespace) -> int:
    matrix, places = load(options.project), Places(options.project)
    cells = matching(matrix, options.cell)
    print("\n\n".join("\n".join(describe.explanation(cell, places, History(places))) for cell in cells))
    return 0


def remove(options: Namespace) -> int:
    places = Places(options.project)
    builds = dict.fromkeys(folder for cell in chosen(options)[1] if (folder := places.folder(cell)).is_dir())
    print(*folders.clean(builds), sep="\n")
    return 0


def begin(options: Namespace) -> int:
    places = Places(options.project)
    print(*init(places.project), f"next: {places.program} run", sep="\n")
    return 0


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
            (options.junit, lambda: report.junit(cells)), (options.json, lambda: results.to_json(cells, sum(cell.seconds for cell in cells))),
            (options.html, lambda: report.page(cells, History(Places(options.project)))), (options.markdown, lambda: report.markdown(cells))):
        if file:
            results.write(file, made())
    return 0 if options.expect is None else code(cells)


def reports(options: Namespace) -> Sequence[StrPath]:
    """Returns the files to report, without those that are missing if it is said which cells they should have."""
    places = Places(options.project)
    latest = places.results / "latest.json"
    asked = options.files or [latest]
    if options.expect is None:
        if not options.files and not latest.exists():
            raise Problem(f"nothing has been run here yet: {places.program} run")
        return asked
    for file in dict.fromkeys(file for file in asked if not os.path.exists(file)):
        print(f"matrix: there is no {file}", file=sys.stderr)
    return [file for file in asked if os.path.exists(file)]


def compare_runs(options: Namespace) -> int:
    before, after = results.read(options.before), results.read(options.after)
    found = list(compare.differences(before, after, History(Places(options.project)).times))
    lines = [line for line, is_noise in found if options.all or not is_noise]
    hidden = len(found) - len(lines)
    print("\n".join(lines) if lines else "no difference" + (" that is more than noise" if hidden else ""))
    if hidden:
        print(f"within noise, and hidden: {hidden}; --all shows them")
    return 1 if compare.worse(before, after) else 0
