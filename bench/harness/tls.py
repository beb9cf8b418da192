"""A certificate for one measurement, under the names that sysbench's MySQL driver looks for in the current folder."""
import os
import shutil
import subprocess


def make(folder):
    """Files of the certificate and its key, which is its own authority."""
    os.makedirs(folder)
    os.chmod(folder, 0o755)
    certificate, key = f"{folder}/cacert.pem", f"{folder}/client-key.pem"
    done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                           "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"openssl makes no certificate: {done.stderr[-300:]}")
    shutil.copy(certificate, f"{folder}/client-cert.pem")
    # pgbouncer runs as somebody else, and the key protects nothing.
    os.chmod(key, 0o644)
    return certificate, key
