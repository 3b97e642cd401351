"""Draws what an event costs, from the results of ci/measure/bench: bars, in the reader's light or dark mode."""

from xml.sax.saxutils import escape

from bench_rows import BARE, FLOOR, SCRIPT

PARTS = ("table", "beside")
WIDTH, LEFT, BAR, LINE, RIGHT = 760, 230, 16, 26, 150

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .head { font-weight: 600; font-size: 15px }
  .small { font-size: 11px; fill: #59636e }
  .ours { fill: #f05138 }
  .mark { fill: #8c959f }
  .back { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .small { fill: #9198a1 }
    .ours { fill: #ff7a5c }
    .mark { fill: #656c76 }
    .back { fill: #0d1117 }
  }
"""


def draw(report):
    """Returns the drawing, as the text of an SVG file."""
    parts = [report["parts"][name] for name in PARTS if report["parts"].get(name, {}).get("rows")]
    shapes, described, bottom = [], [], 12
    for part in parts:
        bottom = draw_part(part, shapes, bottom)
        described += [f"{part['what']}: " + ", ".join(f"{row['name']} {cost(row)}" for row in part["rows"]) + "."]
    machine = report["machine"]
    note = f"Medians of {report['rounds']} rounds. {machine['processor'] or 'Unknown processor'}, {machine['system']}, {machine['architecture']}."
    shapes.append(text(12, bottom + 16, f"CPU time of the client's process for each event; shorter is better. {note}", "small"))
    height = bottom + 30
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        'aria-labelledby="title description">',
        '<title id="title">What an event costs</title>',
        f'<desc id="description">{escape(" ".join(described))}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}"/>',
        *shapes, "</svg>", ""])


def draw_part(part, shapes, top):
    """Adds a part below the previous one; returns where it ends."""
    shapes.append(text(12, top + 16, part["what"][0].upper() + part["what"][1:], "head"))
    most = max(row["cpu_us"] for row in part["rows"]) or 1
    y = top + 28
    for row in part["rows"]:
        width = max(1, row["cpu_us"] / most * (WIDTH - LEFT - RIGHT))
        kind = "mark" if row["name"] in (FLOOR, BARE, SCRIPT) else "ours"
        shapes.append(text(LEFT - 10, y + BAR - 3, row["name"], anchor="end"))
        shapes.append(f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2"/>')
        times = f", {row['times']:.1f} times" if row["times"] and row is not part["rows"][0] else ""
        shapes.append(text(LEFT + width + 8, y + BAR - 3, cost(row) + times))
        y += LINE
    return y + 12


def cost(row):
    """Returns a cost with only its meaningful digits."""
    return f"{row['cpu_us']:.{3 if row['cpu_us'] < 0.1 else 2 if row['cpu_us'] < 10 else 0}f} µs"


def text(x, y, content, kind="", anchor="start"):
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(content)}</text>'
