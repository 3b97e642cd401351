"""Turns the results of ci/measure/bench into medians, tables and limits."""

import statistics

from bench_rows import IDLE_KIB, LIMITS, PARTS
from benchmarking import metric, stop

FIGURES = {"p50_us": "p50 µs", "p99_us": "p99 µs", "p999_us": "p99.9 µs", "kib_each": "KiB each"}


def summary(part, results):
    """Returns the figures of a part's rows, for JSON and for everything that is shown."""
    entries, first = [], {}
    for row in part.rows:
        found = results[row.key]
        costs = [result["cpu_seconds"] / part.each(result) * 1e6 for result in found]
        entry = {
            "group": row.group, "name": row.name, "cpu_us": round(statistics.median(costs), 4),
            "times": times(costs, first.setdefault(row.group, costs))}
        if "seconds" in found[0]:
            entry["per_second"] = round(statistics.median(part.each(result) / result["seconds"] for result in found))
        if "subscribing_cpu_seconds" in found[0]:
            subscribing = statistics.median(result["subscribing_cpu_seconds"] for result in found)
            entry["subscribing_ms"] = round(subscribing * 1e3, 2)
        if "peak_rss_kib" in found[0]:
            entry["peak_rss_kib"] = max(result["peak_rss_kib"] for result in found)
        for name in FIGURES.keys() & found[0].keys():
            entry[name] = round(statistics.median(result[name] for result in found), 1)
        entries.append({**entry, "rounds": [round(cost, 4) for cost in costs]})
    return {"what": part.what, "unit": part.unit, "rows": entries}


def times(costs, marks):
    """Returns the ratio to another row's costs: the median of each round's ratio, because the machine's load is similar within a round."""
    return round(statistics.median(cost / mark for cost, mark in zip(costs, marks)), 3) if all(marks) else None


def show(part):
    """Prints the result of summary()."""
    rows = part["rows"]
    if not rows:
        print("\n".join([f"\n{part['what']}", *part["table"]]), flush=True)
        return
    columns = {"cpu_us": "CPU µs", "times": "times first", "per_second": "a second", "subscribing_ms": "subscribing ms",
               "peak_rss_kib": "peak RSS KiB", **FIGURES}
    columns = {name: title for name, title in columns.items() if any(name in row for row in rows)}
    print(f"\n{part['what']}: for each {part['unit']}")
    print(f"{'':34}" + "".join(f"{title:>16}" for title in columns.values()))
    for row in rows:
        values = "".join(f"{shown(row.get(name)):>16}" for name in columns)
        name = f"{row['group']}: {row['name']}" if row["group"] else row["name"]
        print(f"{name:34}{values}", flush=True)


def shown(value):
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}" if value < 100 else f"{value:,.0f}"


def limits(parts):
    """Yields the limits of the parts that were measured, and whether they were kept."""
    for name, row, mark, limit in LIMITS:
        if name not in parts:
            continue
        costs = {(entry["group"], entry["name"]): entry["rounds"] for entry in parts[name]["rows"]}
        ratio = times(costs[row], costs[mark])
        if ratio is None:
            stop(f"{title(mark)} took no time that can be measured: --events asks for more")
        what = f"{title(row)}: times {title(mark)}"
        metric(what, f"{ratio:.1f}")
        yield {"what": what, "times": ratio, "at_most": limit, "kept": ratio <= limit}
    for row in parts.get("idle", {}).get("rows", []):
        if limit := IDLE_KIB.get(row["name"]):
            metric(f"KiB each of {row['name']}", f"{row['kib_each']:.0f}")
            yield {"what": f"KiB each of {row['name']}", "times": row["kib_each"], "at_most": limit, "kept": row["kib_each"] <= limit}
    if cost := parts.get("cost"):
        metric("dearest byte, ns", f"{cost['worst_ns']:.1f}")
        yield {"what": "the dearest byte: times JSONDecoder's", "times": cost["times"], "at_most": cost["limit"], "kept": not cost["missed"]}


def title(key):
    return ", ".join(filter(None, key))


def known_parts():
    return "\n".join(f"  {name:14} {part.what}" for name, part in PARTS.items())
