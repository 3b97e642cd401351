"""The lines that are shown below that of a cell that didn't pass, or that has notes."""

import os
import shlex
from argparse import Namespace
from collections.abc import Iterator

from . import diagnosis, testlog
from .results import CellResult
from .shell import Places

# How GitHub's commands write the characters that mean something in them; in properties, these are more than in a message.
IN_MESSAGES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTIES = IN_MESSAGES | str.maketrans({",": "%2C", ":": "%3A"})


def lines(places: Places, options: Namespace, result: CellResult) -> Iterator[str]:
    """Yields the first failure's output, the place of its log, and the command that repeats it; on GitHub, also each step's log, folded."""
    steps = result.steps if result.status != "unchanged" else []
    for step in steps:
        yield from (f"    {step.name}: {note}" for note in step.notes if not note.startswith("built for "))
        if step.status not in ("passed", "interrupted"):
            log = places.project / step.log
            yield from (f"    | {diagnosis.shown(line)}" for line in diagnosis.excerpt(diagnosis.read(log), step))
            yield f"    log: {log}"
    if result.status in ("failed", "flaky"):
        yield again(places, options, result)
    if os.environ.get("GITHUB_ACTIONS") == "true" and result.status != "unchanged":
        yield from annotations(places, result)
        for step in steps:
            if step.log:
                yield from (f"::group::{result.id}: {step.name}", diagnosis.read(places.project / step.log).rstrip(), "::endgroup::")


def again(places: Places, options: Namespace, result: CellResult) -> str:
    """Returns the command that runs only what failed in a step, after the steps that build, with the options of this run."""
    step = result.failed_step
    words = [] if options.retries is None else ["--retries", str(options.retries)]
    words += [] if options.timeout_factor == 1 else ["--timeout-factor", f"{options.timeout_factor:g}"]
    words += ["--shard", options.shard] if options.shard else []
    before = [other.name for other in result.steps if other is step or other.kind in ("setup", "build")]
    for name in before if step and step.kind != "build" else options.step:
        words += ["--step", name]
    # What comes after -- is what came there in this run, which was for the tests, if there are any, or else the failed tests.
    has_tests = any(other.kind == "test" for other in result.steps)
    if options.rest and not (has_tests and step and step.kind not in ("test", "build")):
        words += ["--", *options.rest]
    elif step and step.kind == "test" and not step.finding:
        failed = [test for test in step.tests if test.status in ("failed", "running")]
        words += ["--", *testlog.only(failed)] if 0 < len(failed) <= 20 else []
    return f"    again: {places.program} run {shlex.join([result.id, *words])}"


def annotation(level: str, message: str, **properties: object) -> str:
    """Returns a command of GitHub's."""
    words = ",".join(f"{name}={str(value).translate(IN_PROPERTIES)}" for name, value in properties.items())
    return f"::{level} {words}::{message.translate(IN_MESSAGES)}"


def annotations(places: Places, result: CellResult) -> list[str]:
    """Returns lines that GitHub shows beside the code."""
    level = "warning" if result.status == "flaky" else "error"
    root = os.path.realpath(os.environ.get("GITHUB_WORKSPACE") or places.project)
    found = [annotation("error", result.why, title=result.id)] if result.status == "failed" and not result.steps else []
    for step in result.steps:
        if step.status != "passed":
            errors = diagnosis.errors_of(diagnosis.read(places.project / step.log), step)
            errors += [(test.file, test.line, f"{test.status}: {test.name}: {' '.join(test.messages)}") for test in step.tests
                       if test.status in ("failed", "flaky") and test.file]
            for file, line, message in errors[:10]:
                path = os.path.relpath(places.project / file, root)  # GitHub knows only what is in the repository.
                found.append(annotation(level, message, file=file if path.startswith("../") else path, line=line, title=result.id))
            found += [] if errors else [annotation(level, f"{step.name}: {step.why}", title=result.id)]
    return found
