"""`ci/matrix run`: from the chosen cells to the last line. Cells that share a build folder run one after the other, exclusive ones last."""

import concurrent.futures
import contextlib
import dataclasses
import math
import os
import re
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Collection, Iterator, Sequence
from functools import partial

from . import details, diagnosis, folders, report, results, shell
from .cells import STEP_KINDS, Cell, Step
from .history import History
from .inputs import Inputs
from .problems import in_words, naming, regular
from .processes import Processes, on_interrupt
from .requirements import forget, install, missing_of, on_ci
from .results import CellResult, StepResult
from .screen import Screen, clock
from .shell import Places
from .steps import StepRunner

# What a cell that needs this one may begin after: a flaky one's tests have passed, too.
ENOUGH = ("passed", "unchanged", "flaky")
TIMEOUT, INFRASTRUCTURE, NOTHING, INTERRUPTED = 124, 4, 5, 130
# The checks that build in a cell's folder, and may do so in another way.
BUILDS = re.compile(r"\bswift (?:build|run|test|package)\b(?!.*--skip-build)", re.DOTALL)
NOT_BEGUN = ("not begun, because of the interrupt", INTERRUPTED)


def run(options: Namespace, cells: Sequence[Cell], places: Places) -> int:
    if not cells:
        print("nothing failed when it was last run here" if options.last_failed else "nothing is selected", report.closing_line([]), sep="\n")
        results.write(options.report or os.devnull, results.to_json([]))  # Replaces an earlier run's report.
        return NOTHING
    known = Inputs(options, cells, places, History(places))
    if options.dry_run:
        cells = sorted(cells, key=lambda cell: len(cell.needs))  # It needs all that those need that it needs, and these.
        for cell in filter(known.unchanged, cells):
            print(f"matrix: {cell.id}: unchanged since it passed", file=sys.stderr)
        print("\n\n".join("\n".join(shell.script(places, cell)) for cell in cells if not known.unchanged(cell)))
        return 0
    if options.install and (reason := install(cells, places.project)):
        print(f"matrix: Debian packages could not be installed: {reason}")
        return INFRASTRUCTURE
    places.mend(cells)
    forget()  # What was missing may be installed when --watch runs the cells again.
    for doubt in known.doubts():
        print(doubt)
    return Run(options, cells, places, known).status()


class Run:
    def __init__(self, options: Namespace, cells: Sequence[Cell], places: Places, known: Inputs) -> None:
        self.options, self.cells, self.places, self.known = options, cells, places, known
        self.screen = Screen({cell.id: known.history.last(cell, "seconds") for cell in cells}, options.jobs)
        self.processes = Processes()
        elsewhere = results.read(options.after) if options.after else ()
        self.results = {result.id: result for result in elsewhere}  # and of those that have ended here
        self.failed: str | None = None  # the first cell that failed
        self.built = dict[tuple[str, ...], StepResult]()  # by folder and command: the result for other cells that need that build
        self.shared = list[float]()  # the seconds of the builds that other cells needed, too

    def status(self) -> int:
        """Runs the cells, and returns the exit code."""
        def end() -> None:
            """Ends what runs, which may take a while; its results are still reported."""
            self.processes.stop()
            self.screen.ending = True
            self.screen.show()

        # Ends in another thread, because the signal may come while this one holds a lock that ending needs. Handled until the results
        # are saved, because an interrupt would otherwise lose them.
        with on_interrupt(lambda *_: threading.Thread(target=end).start()):
            with self.screen:
                found = self.run()
            if self.shared:
                print(f"{len(self.shared)} builds were those of other cells, which saved about {clock(sum(self.shared))}")
            self.known.keep(found)
            unwritten = "; ".join(dict.fromkeys(self.save(found)))
        if self.screen.refused and not isinstance(self.screen.refused, BrokenPipeError):
            raise self.screen.refused
        with contextlib.suppress(BrokenPipeError):  # The status says something, too.
            if unwritten:
                print(f"the results could not be written: {unwritten}", flush=True)
            for line in self.closing_lines(found):
                print(line, flush=True)
        if self.options.watch and self.screen.refused:  # Nobody watches any more.
            return INTERRUPTED
        return code(found) or (INFRASTRUCTURE if unwritten else 0)

    def run(self) -> list[CellResult]:
        """Runs the cells, and returns their results in the order of the cells."""
        left, running = sorted(self.cells, key=lambda cell: cell.exclusive), dict[concurrent.futures.Future[CellResult], Cell]()
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            while left or running:
                waiting = {cell.id for cell in (*left, *running.values())}
                for cell in [*left]:
                    if len(running) < self.options.jobs and waiting.isdisjoint(cell.needs) and may_begin(cell, running.values()):
                        left.remove(cell)
                        running[pool.submit(self.ended, cell)] = cell
                for ended in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                    self.results[running.pop(ended).id] = ended.result()
        return [self.results[cell.id] for cell in self.cells]

    def ended(self, cell: Cell) -> CellResult:
        """Runs a cell, and shows and returns its result."""
        result = CellResult(cell.id, "skipped", axes=cell.axes)
        try:
            self.outcome(cell, result)
        except Exception as error:  # No space on the disk, or a bug in ci/matrix, must not lose the results of other cells.
            result.status, result.code = "failed", INFRASTRUCTURE
            result.why = in_words(error) if isinstance(error, OSError) else f"ci/matrix itself failed: {error!r}"
        result.time = time.time()
        if result.status == "failed":
            self.failed = self.failed or cell.id
        self.screen.ended_cell(result, [*details.lines(self.places, self.options, result)])
        return result

    def outcome(self, cell: Cell, result: CellResult) -> None:
        # The first cell that this one needs and that didn't pass. Whoever runs this one alone wants it to run.
        known = (self.results[name] for name in cell.needs if name in self.results)
        other = next((result for result in known if result.status not in ENOUGH), None)
        if self.processes.stopped.is_set():
            result.why, result.code = NOT_BEGUN
        elif self.options.fail_fast and self.failed:
            result.why = f"not run, because {self.failed} failed"
        elif other and other.status != "skipped":
            result.why = f"not run, because it needs {other.id}, which {'failed' if other.status == 'failed' else f'was {other.status}'}"
        elif not other and (before := self.known.unchanged(cell)):
            result.status, result.why = "unchanged", "since it passed"
            result.steps, result.seconds, result.metrics = before.steps, before.seconds, before.metrics
        elif reason := f"needs {other.id}, which was skipped: {other.why}" if other else missing_of(cell, str(self.places.project)):
            result.why = reason
            if on_ci() and not cell.optional:
                result.status, result.code, result.why = "failed", INFRASTRUCTURE, f"missing requirement: {reason}"
        else:
            folder = self.places.folder(cell)
            with naming(self.places.log(cell, cell.steps[0])), folders.lock(folder) as file:
                if not (its_own := folders.locked(file)):
                    self.screen.say(f"{cell.id}: waits for another ci/matrix that uses {folder}")
                while not its_own and not self.processes.stopped.wait(0.5):
                    its_own = folders.locked(file)
                if its_own:
                    self.steps(cell, result)
                else:
                    result.why, result.code = NOT_BEGUN

    def steps(self, cell: Cell, result: CellResult) -> None:
        """Runs a cell's steps until one fails; the last one that didn't pass says how the cell ended."""
        result.status, began, logs = "passed", time.monotonic(), self.places.logs(cell)
        say = lambda line: self.screen.say(f"{cell.id}: {line}")
        self.places.folder(cell).mkdir(parents=True, exist_ok=True)  # Not without its lock: another run may have been removing it.
        with folders.temporary(self.places.folder(cell), say) as scratch:
            folders.removed(logs, say)
            logs.mkdir(parents=True, exist_ok=True)
            runner = StepRunner(self.places, self.processes, scratch, self.screen.say if self.options.verbose else None)
            for step in cell.steps:
                done = self.step(runner, cell, step)
                result.steps.append(done)
                if done.status != "passed":
                    result.why = f"{done.name}: {done.why}"
                    result.status = done.status if done.status in ("interrupted", "flaky") else "failed"
                    codes = {"interrupted": INTERRUPTED, "timeout": TIMEOUT, "flaky": int(self.options.fail_on_flaky)}
                    result.code = codes.get(done.status, STEP_KINDS[done.kind])
                if done.status not in ("passed", "flaky"):
                    break
        result.seconds = round(time.monotonic() - began, 1)
        result.metrics = self.metrics(cell)

    def step(self, runner: StepRunner, cell: Cell, step: Step) -> StepResult:
        """Runs a step, or takes the result of a build that another cell has run, if nothing else was built in the folder since then."""
        key = (cell.build, shell.command(self.places, cell, step), str(cell.env | step.env))
        note, ours = self.places.folder(cell) / "built-by", f"{os.getpid()} {key!a}"
        if step.kind == "build" and key in self.built and diagnosis.read(note) == ours:
            self.shared.append(self.built[key].seconds)
            return dataclasses.replace(self.built[key], name=step.name, seconds=0)
        self.screen.began_step(cell.id, step.name, self.places.log(cell, step).relative_to(self.places.project))
        # A build may be cut off, and then leaves a part of it.
        if step.kind in ("build", "setup") or step.kind == "check" and BUILDS.search(key[1]):
            folders.removed(note, self.screen.say)
        done = runner.run(cell, step)
        if step.kind == "build" and done.status in ("passed", "failed"):
            log = "" if done.status == "passed" else done.log
            self.built[key] = dataclasses.replace(done, log=log, notes=[f"built for {cell.id}"])
            results.write(note, ours)
        return done

    def metrics(self, cell: Cell) -> dict[str, float]:
        found, other = {}, []
        with contextlib.suppress(FileNotFoundError), regular(self.places.metrics(cell)) as file:
            for line in file.read(1 << 20).splitlines():  # Nobody compares more numbers than that has.
                name, _, value = line.partition("=")
                with contextlib.suppress(ValueError):
                    if name and math.isfinite(float(value)):
                        found[name] = float(value)
                        continue
                if line.strip():
                    other.append(line)
        if other:
            self.screen.say(f"{cell.id}: left out of its metrics, for not being NAME=NUMBER: {diagnosis.shown(', '.join(other))}")
        return found

    def save(self, found: list[CellResult]) -> Iterator[str]:
        """Writes the results wherever that is possible; yields why some can't be written."""
        options, places, value = self.options, self.places, results.to_json(found)
        ran = [result for result in found if result.steps and result.status != "unchanged"]
        # If a part of a cell passed, that says nothing about the whole: neither how it ends nor how long it takes.
        whole = [result for result in found if result.status != "passed" or not (options.step or options.rest or options.shard)]
        for write in (
                *(partial(results.write, places.result(result), results.to_json([result])) for result in ran),
                partial(results.write, options.report or os.devnull, value), partial(results.write, places.results / "latest.json", value),
                partial(results.write, places.results / "junit.xml", report.junit(found)),
                partial(results.append, os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull, report.markdown(found)),
                partial(self.known.history.add, whole)):
            try:
                write()
            except OSError as error:
                yield in_words(error)

    def closing_lines(self, found: list[CellResult]) -> Iterator[str]:
        """Yields what the lines of the cells don't say: also what failed, with the command that runs only that again."""
        for result in [result for result in found if result.status == "failed" and len(found) > 1]:
            yield f"failed: {result.id}: {f'{step.name}: {step.why}' if (step := result.failed_step) else result.why}"
            yield details.again(self.places, self.options, result)
        if flaky := [result.id for result in found if result.status == "flaky"]:
            yield f"{len(flaky)} flaky: {', '.join(flaky)}" + (", which counts as failed" if self.options.fail_on_flaky else "")
        if code(found) == NOTHING:
            yield "nothing was run"
        yield report.closing_line(found)


def may_begin(cell: Cell, running: Collection[Cell]) -> bool:
    """Returns whether a cell may begin beside those that run: exclusive ones, which are the last that are left, run alone."""
    return not running or not cell.exclusive and not any(other.exclusive or other.build == cell.build for other in running)


def code(found: list[CellResult]) -> int:
    if codes := [result.code for result in found if result.code]:
        return INTERRUPTED if INTERRUPTED in codes else codes[0]
    # On CI, only optional cells are skipped, and their job did what it should.
    ran = any(result.status != "skipped" for result in found) or (found and on_ci())
    return 0 if ran else NOTHING
