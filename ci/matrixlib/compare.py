"""Finds what differs between two runs: results, times, metrics such as coverage, tests that came and went."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

from .results import CellResult, Test
from .screen import clock

# Two times differ if they are at least this factor and this many seconds apart. If a cell has passed OFTEN times, this many median
# deviations from the median (three standard deviations) replace the factor. Metrics differ if they are at least this share apart.
FACTOR, CELL_SECONDS, TEST_SECONDS = 1.25, 5, 1
OFTEN, DEVIATIONS = 5, 4.45
SHARE = 0.002
GOOD = ("passed", "unchanged")


def worse(before: list[CellResult], after: list[CellResult]) -> list[str]:
    """Returns the cells that passed before and don't now, or aren't there."""
    still = {cell.id for cell in after if cell.status in GOOD}
    return [cell.id for cell in before if cell.status in GOOD and cell.id not in still]


def differences(
        before: list[CellResult], after: list[CellResult], times: Callable[[str], Sequence[float]] = lambda name: ()) -> Iterator[tuple[str, bool]]:
    """Yields each difference as a line, with whether it is within noise, as do the functions below; given a cell's times in earlier runs."""
    was, now = ({cell.id: cell for cell in cells} for cells in (before, after))
    for name in was | now:
        old, new = was.get(name), now.get(name)
        if old is None or new is None:
            yield f"{name}: only in the {'second' if old is None else 'first'}", False
            continue
        if old.status != new.status:
            yield f"{name}: {old.status} -> {new.status}" + (f" ({new.why})" if new.why else ""), False
        elif new.status == "passed":
            yield from of_times(f"{name}: ", old.seconds, new.seconds, CELL_SECONDS, clock, times(name))
        for key in old.metrics | new.metrics:
            a, b = old.metrics.get(key), new.metrics.get(key)
            if a != b:
                is_noise = a is not None and b is not None and abs(b - a) < SHARE * abs(a)
                yield f"{name}: {key} {'none' if a is None else a} -> {'none' if b is None else b}", is_noise
        if old.tests and new.tests:
            yield from of_tests(name, *({test.name: test for test in cell.tests} for cell in (old, new)))


def of_times(
        name: str, before: float, after: float, least: float, words: Callable[[float], str], times: Sequence[float] = ()) -> Iterator[tuple[str, bool]]:
    apart = (FACTOR - 1) * min(before, after)
    if len(times) >= OFTEN:
        middle = statistics.median(times)
        apart = DEVIATIONS * statistics.median(abs(time - middle) for time in times)
    if words(before) != words(after):
        yield f"{name}{words(before)} -> {words(after)}", abs(after - before) < max(least, apart)


def of_tests(name: str, was: Mapping[str, Test], now: Mapping[str, Test]) -> Iterator[tuple[str, bool]]:
    for how, these, others in (("gone", was, now), ("new", now, was)):
        if found := [test for test in these if test not in others]:
            yield f"{name}: {len(found)} test{'s' if len(found) > 1 else ''} {how}: {', '.join(found[:3])}{', …' if len(found) > 3 else ''}", False
    for test in was:
        if test in now:
            yield from of_times(f"{name}: {test} ", was[test].seconds, now[test].seconds, TEST_SECONDS, "{:.1f} s".format)
