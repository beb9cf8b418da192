"""What the Python programs share: they get PORT and FAMILY, and print one `ok` or `FAILED` line per case."""

import sys
import traceback

PORT = int(sys.argv[1])
FAMILY = sys.argv[2]
DATABASE = "shop"
_client = sys.argv[0].rsplit("/", 1)[-1].removesuffix("_client.py")
_failed = 0


def case(work):
    """Runs `work` at once; its name, with dashes, is the case's."""
    global _failed
    name = f"{FAMILY}-{_client}-{work.__name__.replace('_', '-')}"
    try:
        work()
    except Exception as error:
        _failed += 1
        first = (str(error).splitlines() or [""])[0]
        print(f"FAILED {name}: {type(error).__name__}: {first}", flush=True)
        traceback.print_exc(limit=-3, file=sys.stdout)
    else:
        print(f"ok {name}", flush=True)


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def refused(kind, work, code):
    """`work` must fail with `kind`, for which `code(error)` says true."""
    try:
        work()
    except kind as error:
        if not code(error):
            raise AssertionError(f"another error: {error!r}") from error
    else:
        raise AssertionError("nothing was refused")


def done():
    sys.exit(1 if _failed else 0)
