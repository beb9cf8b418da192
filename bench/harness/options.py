"""The command line."""
import argparse
import os

from . import scenarios, systems
from .servers import FAMILIES


def _list_of(known, what):
    def read(text):
        words = [word for word in text.split(",") if word]
        unknown = [word for word in words if word not in known]
        if unknown or not words:
            raise argparse.ArgumentTypeError(f"unknown {what} `{','.join(unknown)}`; there are: {', '.join(known)}")
        return words
    return read


def _numbers(text):
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"expected whole numbers from 1 with commas, got `{text}`")
    return numbers


def _positive(text):
    return _numbers(text)[0]


def read(arguments):
    names = [scenario.name for scenario in scenarios.ALL]
    parser = argparse.ArgumentParser(prog="bench/run", description="Pando beside a direct connection and other proxies, in interleaved rounds.")
    several = parser.add_argument
    several("--families", type=_list_of(FAMILIES, "family"), default=list(FAMILIES), metavar="A,B", help=", ".join(FAMILIES))
    several("--systems", type=_list_of(list(systems.ALL), "system"), default=list(systems.ALL), metavar="A,B", help=", ".join(systems.ALL))
    several("--scenarios", type=_list_of(names, "scenario"), default=names, metavar="A,B", help="see --list")
    several("--modes", type=_list_of(scenarios.MODES, "mode"), default=list(scenarios.MODES), metavar="A,B", help=", ".join(scenarios.MODES))
    several("--threads", type=_numbers, metavar="N,N", help="instead of each scenario's own")
    several("--tls", type=_list_of(("off", "on"), "state"), default=["off"], metavar="off|on|off,on", help="between client and proxy")
    several("--rounds", type=_positive, default=5)
    several("--seconds", type=_positive, default=int(os.environ.get("BENCH_SECONDS", "5")), help="of each run; default BENCH_SECONDS or 5")
    several("--warmup", type=int, metavar="SECONDS", help="of each run before the first round; default as --seconds")
    several("--rows", type=_positive, default=100_000, help="of the table")
    several("--pool", type=_positive, default=10, help="connections to each server that Pando and pgbouncer may have; default 10")
    several("--busy", type=_positive, metavar="N", help="so many busy loops on each core meanwhile: neighbours")
    several("--clients", type=_numbers, default=[1_000, 10_000], metavar="N,N", help="how many idle_clients counts; default 1000,10000")
    several("--pando", metavar="BIN", default=os.environ.get("PANDO_BIN"), help="a release build; else PANDO_BIN, or one is built")
    several("--services", metavar="DIR", help="servers that testing/services/up has started there, instead of own ones")
    several("--output", metavar="FILE", help="the JSON; default bench/results/DATE.json")
    several("--list", action="store_true", help="the scenarios, and no measurement")
    options = parser.parse_args(arguments)
    if options.warmup is None:
        options.warmup = options.seconds
    return options
