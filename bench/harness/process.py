"""A process that the bench started: ended with the bench at the latest, and what /proc says about it meanwhile."""
import ctypes
import os
import signal
import subprocess
import time

TICK = os.sysconf("SC_CLK_TCK")
running = []
_libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


def _die_with_parent():
    # Also when the bench itself is killed and no `finally` runs.
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """Own session, so that Ctrl-C reaches the bench alone, which then ends everything in order."""

    def __init__(self, command, log, **more):
        """What it says goes to the file `log`, unless `more`, which Popen takes, says otherwise."""
        self.log = log
        with open(log, "ab") as output:
            self.child = subprocess.Popen(command, **{"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, "start_new_session": True,
                                                      "preexec_fn": _die_with_parent, **more})
        self.pid = self.child.pid
        running.append(self)

    def alive(self):
        return self.child.poll() is None

    def said(self, lines=15):
        with open(self.log, errors="replace") as log:
            return "".join(log.readlines()[-lines:])

    def stop(self, patience=10):
        """SIGTERM, then SIGKILL: to the whole group, as some start others."""
        for what in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.pid, what)
                self.child.wait(patience)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self.child.wait()
        if self in running:
            running.remove(self)

    # --- /proc ---------------------------------------------------------------------------------------------------------

    def cpu_seconds(self):
        """User and system time of all its threads so far."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def forget_peak(self):
        """The peak of resident memory starts anew at what is resident now."""
        with open(f"/proc/{self.pid}/clear_refs", "w") as file:
            file.write("5")

    def _status(self, key):
        with open(f"/proc/{self.pid}/status") as file:
            for line in file:
                if line.startswith(key + ":"):
                    return int(line.split()[1]) * 1024
        raise RuntimeError(f"process {self.pid} has no {key}")

    def peak_bytes(self):
        return self._status("VmHWM")

    def resident_bytes(self):
        return self._status("VmRSS")


def stop_all():
    for process in list(running):
        process.stop(patience=3)


def until(seconds, condition, process, what):
    """Waits until `condition()` holds, or says what `process` said instead."""
    end = time.monotonic() + seconds
    while not condition():
        if not process.alive() or time.monotonic() > end:
            raise RuntimeError(f"{what} is not ready:\n{process.said()}")
        time.sleep(0.05)
