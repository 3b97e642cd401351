"""Draws the resources that a client held during scenarios: one panel below the other, with time from left to right."""

import html
import itertools

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 960, 120, 90, 20, 60, 46
INK, GREY, LINE, MARK = "#1f2328", "#8c959f", "#0969da", "#cf222e"


def plot(samples, steps):
    """Returns an SVG of samples, a second apart, and of the scenarios' ends."""
    rates = [b["events"] - a["events"] for a, b in itertools.pairwise(samples)]
    panels = [
        ("events received in a second", [0, *rates]),
        ("resident memory, MiB", [sample["residentKiB"] / 1024 for sample in samples]),
        ("descriptors", [sample["descriptors"] for sample in samples]),
        ("threads", [sample["threads"] for sample in samples]),
        ("connections made so far", [sample["connections"] for sample in samples]),
    ]
    seconds = max(samples[-1]["second"], 1)
    height = TOP + len(panels) * (PANEL + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        text(LEFT, 24, f"One client, {len(steps)} scenarios, {seconds / 60:.0f} minutes", size=16),
        text(LEFT, 42, "red: a scenario was lived through (which one, says the mark when it is pointed at)", GREY),
    ]
    for index, (title, values) in enumerate(panels):
        parts += panel(title, values, steps, seconds, TOP + index * (PANEL + GAP) + 16)
    return "\n".join([*parts, "</svg>", ""])


def panel(title, values, steps, seconds, top):
    highest = ceiling(max(values))
    bottom = top + PANEL

    def x(second):
        return LEFT + (WIDTH - LEFT - RIGHT) * second / seconds

    yield text(LEFT, top - 6, title)
    for share in (0, 0.5, 1):
        y = bottom - PANEL * share
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#d0d7de"/>'
        yield text(LEFT - 8, y + 4, f"{highest * share:g}", GREY, anchor="end")
    for step in steps:
        mark = f'<line x1="{x(step["second"]):.1f}" x2="{x(step["second"]):.1f}" y1="{top}" y2="{bottom}" stroke="{MARK}"'
        yield f'{mark} stroke-opacity="0.25"><title>{html.escape(step["scenario"])}</title></line>'
    points = " ".join(f"{x(second):.1f},{bottom - PANEL * value / highest:.1f}" for second, value in enumerate(values))
    yield f'<polyline points="{points}" fill="none" stroke="{LINE}" stroke-width="1.5"/>'
    for share in (0, 0.25, 0.5, 0.75, 1):
        yield text(x(seconds * share), bottom + 16, clock(seconds * share), GREY, anchor="middle")


def text(x, y, words, color=INK, size=12, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" font-size="{size}" text-anchor="{anchor}">{html.escape(words)}</text>'


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def ceiling(value):
    """Returns the next number that looks good on an axis."""
    step = 1
    while step * 10 < value:
        step *= 10
    return next(step * share for share in (1, 2, 4, 6, 8, 10, 20) if step * share >= value)
