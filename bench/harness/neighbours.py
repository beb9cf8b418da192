"""Others who want the cores as well: loops that only compute."""
import os

from .process import Process

LOOP = "while :; do :; done"


def start(each, folder):
    """So many on each core that this process may use. They end with the bench."""
    for core in sorted(os.sched_getaffinity(0)):
        for _ in range(each):
            Process(["taskset", "-c", str(core), "sh", "-c", LOOP], os.path.join(folder, "neighbours.log"))
