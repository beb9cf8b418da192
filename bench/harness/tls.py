"""A certificate for one measurement, which is its own authority."""
import os
import pwd
import shutil
import subprocess


class Certificate:
    """`folder` has it under the names, too, that sysbench's MySQL driver looks for in the current folder."""

    def __init__(self, folder):
        os.makedirs(folder)
        os.chmod(folder, 0o755)
        self.folder, self.file, self.key = folder, f"{folder}/cacert.pem", f"{folder}/client-key.pem"
        done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                               "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", self.key, "-out", self.file],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"openssl makes no certificate: {done.stderr[-300:]}")
        shutil.copy(self.file, f"{folder}/client-cert.pem")
        # pgbouncer runs as somebody else, and the key protects nothing.
        os.chmod(self.key, 0o644)

    def key_of_postgres(self):
        """A copy that nobody else may read: PostgreSQL insists."""
        own = f"{self.folder}/postgres-key.pem"
        shutil.copy(self.key, own)
        os.chmod(own, 0o600)
        if os.getuid() == 0:
            who = pwd.getpwnam("postgres")
            os.chown(own, who.pw_uid, who.pw_gid)
        return own
