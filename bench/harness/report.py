"""Medians over the rounds, the table, and the JSON."""
import json
import os
import statistics

from . import scenarios
from .servers import FAMILIES

CELL = ("family", "scenario", "mode", "threads", "tls")
REFERENCES = ("direct", "unit", "haproxy", "haproxy_unit", "haproxy_tables", "haproxy_units", "pgbouncer", "shardingsphere")


def _spread(values):
    """Median, least and greatest; None without values."""
    values = [value for value in values if value is not None]
    return {"median": statistics.median(values), "min": min(values), "max": max(values)} if values else None


def _ratio(records, others):
    """Within each round: this system's rate by the other's."""
    by_round = {record["round"]: record["qps"] for record in others if "qps" in record}
    return _spread([record["qps"] / by_round[record["round"]] for record in records if "qps" in record and record["round"] in by_round])


def _added(records, direct, haproxy):
    """Within each round: the latency added to direct, as a multiple of what HAProxy adds."""
    straight = {record["round"]: record["latency_us"] for record in direct if "latency_us" in record}
    relayed = {record["round"]: record["latency_us"] for record in haproxy if "latency_us" in record}
    values = []
    for record in records:
        at = record["round"]
        if "latency_us" in record and at in straight and at in relayed and relayed[at] > straight[at]:
            values.append((record["latency_us"] - straight[at]) / (relayed[at] - straight[at]))
    return _spread(values)


def summarise(records):
    """One entry per cell and system, over the counted rounds."""
    cells = {}
    for record in records:
        if record["round"]:
            cells.setdefault(tuple(record[key] for key in CELL), {}).setdefault(record["system"], []).append(record)
    entries = []
    for cell, by_system in cells.items():
        for system, runs in by_system.items():
            failed = [run["failed"] for run in runs if "failed" in run]
            entry = {**dict(zip(CELL, cell)), "system": system, "rounds": len(runs), "failed": failed}
            for figure in ("qps", "latency_us", "p95_ms", "cpu_us", "peak_bytes"):
                entry[figure] = _spread([run.get(figure) for run in runs])
            for reference in REFERENCES:
                entry[f"by_{reference}"] = _ratio(runs, by_system.get(reference, []))
            entry["added_by_haproxy"] = _added(runs, by_system.get("direct", []), by_system.get("haproxy", []))
            entries.append(entry)
    return entries


def _number(value, digits=0):
    return "" if value is None else f"{value['median']:,.{digits}f}"


def _range(value, digits=0):
    return "" if value is None else f"{value['min']:,.{digits}f}–{value['max']:,.{digits}f}"


def _row(entry):
    """A failed round spoils the entry: its figures stand in the JSON only."""
    start = [entry["system"]]
    if entry["failed"]:
        return [*start, "failed", entry["failed"][0][:110]]
    memory = entry["peak_bytes"]
    added = entry["added_by_haproxy"] if entry["threads"] == 1 and entry["system"] not in ("direct", "unit", "haproxy", "haproxy_unit") else None
    # To oneself it is always 1.
    others = [None if entry["system"] == other else entry[f"by_{other}"] for other in ("haproxy_tables", "haproxy_units", "pgbouncer", "shardingsphere")]
    return [*start, _number(entry["qps"]), _range(entry["qps"]), _number(entry["by_direct"], 2), _range(entry["by_direct"], 2),
            _number(entry["by_haproxy"], 2), _range(entry["by_haproxy"], 2), *(_number(other, 2) for other in others[:3]), _number(others[3], 1), _number(entry["latency_us"]), _number(added, 2),
            _number(entry["p95_ms"], 2), _number(entry["cpu_us"], 1), "" if memory is None else f"{memory['max'] / 1e6:,.0f}"]


HEAD = ["system", "queries/s", "min–max", "× direct", "min–max", "× haproxy", "min–max", "× …tables", "× …units", "× pgbouncer", "× sharding…", "µs", "added", "p95 ms", "CPU µs", "MB"]


def _line(row, widths):
    cells = [text.ljust(width) if at == 0 else text.rjust(width) for at, (text, width) in enumerate(zip(row, widths))]
    # A row of fewer cells ends in words, which need no column.
    return ("  " + "  ".join([*cells, *row[len(cells):]])).rstrip()


def _place(entry):
    """Where it stands in the table: runs are shuffled, readers are not."""
    names = [scenario.name for scenario in scenarios.ALL]
    return FAMILIES.index(entry["family"]), names.index(entry["scenario"]), entry["tls"], scenarios.MODES.index(entry["mode"]), entry["threads"]


def table(entries, order, write=print):
    """One table; a line over each group of systems says what they were asked."""
    entries = sorted(entries, key=_place)
    cells = {}
    for entry in sorted(entries, key=lambda entry: order.index(entry["system"])):
        cells.setdefault(tuple(entry[key] for key in CELL), []).append(_row(entry))
    whole = [HEAD, *(row for rows in cells.values() for row in rows if len(row) == len(HEAD))]
    widths = [max(len(row[at]) for row in whole) for at in range(len(HEAD))]
    widths[0] = max(widths[0], *map(len, order))
    write(_line(HEAD, widths))
    for cell in dict.fromkeys(tuple(entry[key] for key in CELL) for entry in entries):
        family, scenario, mode, threads, tls = cell
        write(f"{family} {scenario}, {mode}, {threads} thread{'' if threads == 1 else 's'}" + (", TLS" if tls == "on" else ""))
        for row in cells[cell]:
            write(_line(row, widths if len(row) == len(HEAD) else widths[:1]))


class Results:
    """All that was measured. The file is written again and again, so that little is lost with a machine that goes down."""

    def __init__(self, path, about):
        self.path, self.about, self.runs, self.idle = path, about, [], []

    def keep(self, record):
        if self.runs and record["round"] != self.runs[-1]["round"]:
            self.save()
        self.runs.append(record)

    def save(self):
        """Whole or not at all: another reader never sees half of it."""
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        with open(f"{self.path}.part", "w") as file:
            json.dump({"about": self.about, "summary": summarise(self.runs), "idle": self.idle, "runs": self.runs}, file, indent=1)
        os.replace(f"{self.path}.part", self.path)
