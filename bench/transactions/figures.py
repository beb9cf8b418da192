"""Medians over the rounds, and ratios to LOCAL within a round."""
import statistics


def _spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)} if values else None


def summarise(records):
    """One entry for each family, scenario and type, in the order in which they first come. Round 0 warms up and does not count."""
    rates, failed = {}, {}
    for record in records:
        key = (record["family"], record["scenario"], record["type"])
        rates.setdefault(key, {})
        if record["round"] and "tps" in record:
            rates[key][record["round"]] = record
        elif "failed" in record:
            failed[key] = record["failed"]
    summary = []
    for (family, scenario, kind), rounds in rates.items():
        local = rates.get((family, scenario, "LOCAL"), {})
        ratios = [one["tps"] / local[number]["tps"] for number, one in rounds.items() if number in local]
        summary.append({"family": family, "scenario": scenario, "type": kind, "tps": _spread([one["tps"] for one in rounds.values()]),
                        "p95_ms": _spread([one["p95_ms"] for one in rounds.values()]), "by_local": _spread(ratios),
                        "failed": failed.get((family, scenario, kind))})
    kinds = ("LOCAL", "XA", "BASE")
    order = list(dict.fromkeys((entry["family"], entry["scenario"]) for entry in summary))
    return sorted(summary, key=lambda entry: (order.index((entry["family"], entry["scenario"])), kinds.index(entry["type"])))


def _text(spread, form):
    return f"{spread['median']:{form}}  {spread['min']:{form}}–{spread['max']:{form}}" if spread else ""


def table(summary):
    lines = [f"{'family':8} {'scenario':11} {'type':6} {'transactions/s':>24} {'× LOCAL':>20} {'p95 ms':>22}"]
    for entry in summary:
        line = (f"{entry['family']:8} {entry['scenario']:11} {entry['type']:6} {_text(entry['tps'], ',.0f'):>24} {_text(entry['by_local'], '.2f'):>20} "
                f"{_text(entry['p95_ms'], '.1f'):>22}")
        lines.append(line.rstrip() + (f"  failed: {entry['failed'][:100]}" if entry["failed"] else ""))
    return "\n".join(lines)
