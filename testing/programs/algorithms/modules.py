"""The example modules, built with Debian's compilers."""
import hashlib
import os
import shutil
import subprocess

from plain.house import TESTING, work

SOURCES = f"{TESTING}/../crates/wasm/modules"
STD = "/usr/lib/rustlib/wasm32-unknown-unknown"


def lacking():
    """Why they cannot be built here; None where they can."""
    if not os.path.isdir(STD) or not os.access("/usr/bin/rustc", os.X_OK):
        return "there is no rustc with the target wasm32-unknown-unknown (libstd-rust-dev-wasm32)"
    if not shutil.which("clang") or not shutil.which("wasm-ld"):
        return "there is no clang with wasm-ld (clang, lld)"
    return None


def built():
    """A folder with both, and their digests by name."""
    folder = f"{work}/modules"
    os.mkdir(folder)
    subprocess.run(["/usr/bin/rustc", "--edition", "2021", "--crate-type", "cdylib", "--target", "wasm32-unknown-unknown", "-O",
                    "-C", "panic=abort", "-C", "link-arg=-s", "-o", f"{folder}/shop.wasm", f"{SOURCES}/shop.rs"], check=True, timeout=120)
    subprocess.run(["clang", "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-o", f"{folder}/shop_c.wasm", f"{SOURCES}/shop.c"],
                   check=True, timeout=120)
    return folder, {name: digest(f"{folder}/{name}") for name in ("shop.wasm", "shop_c.wasm")}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
