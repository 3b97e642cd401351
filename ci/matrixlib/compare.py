"""What differs between two runs: results, times, metrics such as coverage, tests that came and went."""

import statistics

from .screen import clock

# A time is another one from this factor, and this many seconds, on: where a cell has passed often enough, instead of the factor,
# from so many median deviations from the median (three standard ones) on. A number that a cell measures is, from this share on.
FACTOR, CELL_SECONDS, TEST_SECONDS = 1.25, 5, 1
OFTEN, DEVIATIONS = 5, 4.45
SHARE = 0.002


def noise(seconds, least, times=()):
    """How far apart two times may be that say nothing, given the shorter one and those of earlier runs."""
    if len(times) < OFTEN:
        return max(least, (FACTOR - 1) * seconds)
    middle = statistics.median(times)
    return max(least, DEVIATIONS * statistics.median(abs(time - middle) for time in times))


class Lines:
    """Of the differences those that are none of noise, and how many others there are."""

    def __init__(self, everything):
        self.everything, self.shown, self.hidden = everything, [], 0

    def add(self, line, within_noise=False):
        if within_noise and not self.everything:
            self.hidden += 1
        else:
            self.shown.append(line)

    def time(self, name, before, after, least, words, times=()):
        if words(before) != words(after):
            self.add(f"{name}{words(before)} -> {words(after)}", abs(after - before) < noise(min(before, after), least, times))


def differences(before, after, times=lambda name: (), everything=False):
    """Lines for what differs, the cells that passed before and don't now, and how many differences are left out.

    `times` are those that a cell took in earlier runs.
    """
    before, after = ({cell.id: cell for cell in cells} for cells in (before, after))
    lines, worse = Lines(everything), []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            lines.add(f"{name}: only in the {'second' if old is None else 'first'}")
            continue
        if old.status != new.status:
            lines.add(f"{name}: {old.status} -> {new.status}" + (f" ({new.why})" if new.why else ""))
            if old.status == "passed":
                worse.append(name)
        elif new.status == "passed":
            lines.time(f"{name}: ", old.seconds, new.seconds, CELL_SECONDS, clock, times(name))
        metrics(lines, name, old.metrics, new.metrics)
        tests(lines, name, old, new)
    return lines.shown, worse, lines.hidden


def metrics(lines, name, old, new):
    for key in {**old, **new}:
        was, now = old.get(key, "none"), new.get(key, "none")
        if was != now:
            numbers = all(isinstance(value, (int, float)) for value in (was, now))
            lines.add(f"{name}: {key} {was} -> {now}", numbers and abs(now - was) < SHARE * abs(was))


def tests(lines, name, old, new):
    if not old.tests or not new.tests:
        return
    was, now = ({test.name: test for test in cell.tests} for cell in (old, new))
    for found, how in (([test for test in was if test not in now], "gone"), ([test for test in now if test not in was], "new")):
        if found:
            lines.add(f"{name}: {len(found)} tests {how}: {', '.join(found[:3])}{', …' if len(found) > 3 else ''}")
    for test in was:
        if test in now:
            lines.time(f"{name}: {test} ", was[test].seconds, now[test].seconds, TEST_SECONDS, "{:.1f} s".format)
