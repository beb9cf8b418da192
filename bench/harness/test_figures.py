"""What is made of the figures, without any server: `python3 -m unittest discover bench/harness -t bench`."""
import unittest

from . import report, sysbench

SAID = """Threads started!
SQL statistics:
    transactions:                        {events}  (500.00 per sec.)
    queries:                             9000   (9000.00 per sec.)
    ignored errors:                      {repeated}      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)
         95th percentile:                        2.50
"""


class Load:
    threads = 4

    class system:
        halves = False

    class scenario:
        besides = 2


class LoadOfTwoServers(Load):
    class system:
        halves = True


def record(system, number, rate, threads=1):
    return {"family": "pg", "scenario": "point_select", "mode": "text", "threads": threads, "tls": "off", "system": system, "round": number,
            "qps": rate, "latency_us": 1e6 * threads / rate}


def entry(records, system):
    return next(entry for entry in report.summarise(records) if entry["system"] == system)


class Figures(unittest.TestCase):
    def test_a_ratio_is_formed_within_its_round(self):
        records = [record("direct", 1, 100), record("pando", 1, 50), record("direct", 2, 1000), record("pando", 2, 900)]
        self.assertEqual(entry(records, "pando")["by_direct"], {"median": 0.7, "min": 0.5, "max": 0.9})

    def test_the_round_that_warms_up_is_not_counted(self):
        self.assertEqual(entry([record("pando", 0, 1), record("pando", 1, 7)], "pando")["qps"], {"median": 7, "min": 7, "max": 7})

    def test_added_latency_is_told_in_what_haproxy_adds(self):
        records = [record("direct", 1, 1e6 / 40), record("haproxy", 1, 1e6 / 60), record("pando", 1, 1e6 / 70)]
        self.assertAlmostEqual(entry(records, "pando")["added_by_haproxy"]["median"], 1.5)

    def test_a_failed_run_is_never_shown_as_a_figure(self):
        records = [record("pando", 1, 50), {**record("pando", 2, 50), "failed": "no such table"}]
        lines = []
        report.table(report.summarise(records), ["pando"], lines.append)
        self.assertIn("failed  no such table", lines[-1])

    def test_a_run_is_read(self):
        self.assertEqual(sysbench.read(SAID.format(events=500, repeated=0), 0, Load),
                         {"queries": 9000, "qps": 9000, "tps": 500, "latency_us": 8000, "p95_ms": 2.5, "repeated": 0})

    def test_the_second_servers_begin_and_commit_are_not_counted(self):
        figures = sysbench.read(SAID.format(events=500, repeated=0), 0, LoadOfTwoServers)
        self.assertEqual((figures["queries"], figures["qps"], figures["tps"]), (8000, 8000, 500))

    def test_a_run_with_many_errors_is_refused(self):
        for said, code in ((SAID.format(events=500, repeated=11), 0), (SAID.format(events=0, repeated=0), 0), (SAID.format(events=500, repeated=0), 1),
                           ("FATAL: no\n" + SAID.format(events=500, repeated=0), 0), ("", 0)):
            with self.assertRaises(ValueError):
                sysbench.read(said, code, Load)


if __name__ == "__main__":
    unittest.main()
