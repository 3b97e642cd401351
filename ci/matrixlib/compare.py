"""What differs between two runs: results, times, metrics such as coverage, tests that came and went."""

from .screen import clock

# A cell's or test's time counts as changed from this factor, and this many seconds, on.
FACTOR, CELL_SECONDS, TEST_SECONDS = 1.25, 5, 1


def slower_or_faster(before, after, least):
    return abs(after - before) >= least and max(before, after) >= FACTOR * min(before, after)


def differences(before, after):
    """Lines for what differs, and the cells that passed before and don't now."""
    before, after = ({cell.id: cell for cell in cells} for cells in (before, after))
    lines, worse = [], []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            lines.append(f"{name}: only in the {'second' if old is None else 'first'}")
            continue
        if old.status != new.status:
            lines.append(f"{name}: {old.status} -> {new.status}" + (f" ({new.why})" if new.why else ""))
            if old.status == "passed":
                worse.append(name)
        elif new.status == "passed" and slower_or_faster(old.seconds, new.seconds, CELL_SECONDS):
            lines.append(f"{name}: {clock(old.seconds)} -> {clock(new.seconds)}")
        lines += metrics(name, old, new) + tests(name, old, new)
    return lines, worse


def metrics(name, old, new):
    keys = [key for key in {**old.metrics, **new.metrics} if old.metrics.get(key) != new.metrics.get(key)]
    return [f"{name}: {key} {old.metrics.get(key, 'none')} -> {new.metrics.get(key, 'none')}" for key in keys]


def tests(name, old, new):
    if not old.tests or not new.tests:
        return []
    was, now = ({test.name: test for test in cell.tests} for cell in (old, new))
    gone, come = [test for test in was if test not in now], [test for test in now if test not in was]
    lines = [f"{name}: {len(found)} tests {how}: {', '.join(found[:3])}{', …' if len(found) > 3 else ''}"
             for found, how in ((gone, "gone"), (come, "new")) if found]
    for test in was:
        if test in now and slower_or_faster(was[test].seconds, now[test].seconds, TEST_SECONDS):
            lines.append(f"{name}: {test} {was[test].seconds:.1f} s -> {now[test].seconds:.1f} s")
    return lines
