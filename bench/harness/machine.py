"""What is asked of the machine: free ports, file descriptors, and how busy it is."""
import os
import platform
import resource
import socket


def free_port():
    """Listened on by nobody just now. The kernel hands each out once before it begins anew."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def raise_descriptors():
    """Up to the hard limit, which children inherit; 10,000 clients need about as many on either side."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def load():
    return os.getloadavg()[0]


def describe():
    model = ""
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    return {"cores": len(os.sched_getaffinity(0)), "cpu": model, "kernel": platform.release(), "load_at_start": round(load(), 2)}
