"""The lines that are shown below that of a cell that didn't pass, or that has notes."""

import os
import re
import shlex
from argparse import Namespace

from . import diagnosis, testlog
from .results import CellResult, StepResult
from .shell import Places


def lines(places: Places, options: Namespace, result: CellResult) -> list[str]:
    """Returns the first failure's output, the place of its log, and the command that repeats it."""
    shown = []
    for step in result.steps if result.status != "unchanged" else ():
        shown += [f"    {step.name}: {note}" for note in step.notes if not note.startswith("built for ")]
        if step.status not in ("passed", "interrupted"):
            log = diagnosis.read(places.project / step.log)
            shown += [f"    | {diagnosis.shown(line)}" for line in diagnosis.excerpt(log, step)]
            shown.append(f"    log: {step.log if called_in(places.project) else places.project / step.log}")
    if result.status in ("failed", "flaky"):
        shown.append(again(places, options, result, next(iter(result.failed_steps), None)))
    hosted = os.environ.get("GITHUB_ACTIONS") == "true" and result.status != "unchanged"
    return shown + (annotations(places, result) + logs(places, result) if hosted else [])


def called_in(folder: os.PathLike[str]) -> bool:
    """Returns whether ci/matrix was called in this folder, so that relative paths work; the current folder may be gone."""
    try:
        return os.getcwd() == str(folder)
    except OSError:
        return False


def again(places: Places, options: Namespace, result: CellResult, step: StepResult | None = None) -> str:
    """Returns the command that runs only what failed in a step, after the steps that build, with the options of this run."""
    words = [] if options.retries is None else ["--retries", str(options.retries)]
    words += [] if options.timeout_factor == 1 else ["--timeout-factor", f"{options.timeout_factor:g}"]
    words += ["--shard", options.shard] if options.shard else []
    before = [other.name for other in result.steps if other is step or other.kind in ("setup", "build")]
    for name in before if step and step.kind != "build" else options.step:
        words += ["--step", name]
    if rest := arguments(options, result, step):
        words += ["--", *rest]
    return f"    again: {places.program} run {shlex.join([result.id, *words])}"


def arguments(options: Namespace, result: CellResult, step: StepResult | None) -> list[str]:
    """Returns what comes after -- when a step is run again: what came there in this run, or else the failed tests."""
    # In this run it was for the tests, and no other step of their cell knows it.
    for_tests = any(other.kind == "test" for other in result.steps) and step and step.kind not in ("test", "build")
    if options.rest and not for_tests:
        return list(options.rest)
    failed = [test for test in step.tests if test.status in ("failed", "running")] if step and step.kind == "test" and not step.finding else []
    return testlog.only(failed) if 0 < len(failed) <= 20 else []


def escaped(text: str, others: str = "") -> str:
    """Returns a text as a command of GitHub's takes it, whose properties have other characters that mean something."""
    return re.sub(f"[%\r\n{others}]", lambda match: f"%{ord(match[0]):02X}", text)


def annotation(level: str, message: str, **properties: object) -> str:
    words = ",".join(f"{name}={escaped(str(value), ',:')}" for name, value in properties.items())
    return f"::{level} {words}::{escaped(message)}"


def annotations(places: Places, result: CellResult) -> list[str]:
    """Returns lines that GitHub shows beside the code."""
    level = "warning" if result.status == "flaky" else "error"
    found = [annotation("error", result.why, title=result.id)] if result.status == "failed" and not result.steps else []
    for step in result.steps:
        if step.status != "passed":
            errors = diagnosis.errors_of(diagnosis.read(places.project / step.log), step)
            errors += [(test.file, test.line, f"{test.status}: {test.name}: {' '.join(test.messages)}") for test in step.tests
                       if test.status in ("failed", "flaky") and test.file]
            found += [annotation(level, message, file=in_repository(places, file), line=line, title=result.id) for file, line, message in errors[:10]]
            found += [] if errors else [annotation(level, f"{step.name}: {step.why}", title=result.id)]
    return found


def in_repository(places: Places, file: str) -> str:
    """Returns a file's path as GitHub knows it: in the repository, if it is there."""
    path = os.path.relpath(places.project / file, os.path.realpath(os.environ.get("GITHUB_WORKSPACE") or places.project))
    return file if path.startswith("../") else path


def logs(places: Places, result: CellResult) -> list[str]:
    """Returns every step's log, folded."""
    found = []
    for step in result.steps:
        if step.log:
            found += [f"::group::{result.id}: {step.name}", diagnosis.read(places.project / step.log).rstrip(), "::endgroup::"]
    return found
