"""ShardingSphere-Proxy 5.1.0 in Java, with the same rules as Pando."""
import os
import shutil
import subprocess
import tempfile

from .. import topology
from ..machine import free_port
from ..process import Process
from .base import System

POM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "pom.xml")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pando", "shardingsphere-proxy-5.1.0")
# What its own start script says, but for the agent and the log of collections.
JAVA = ["-server", "-Xmx2g", "-Xms2g", "-Xmn1g", "-Xss1m", "-XX:AutoBoxCacheMax=4096", "-XX:+DisableExplicitGC", "-XX:LargePageSizeInBytes=128m",
        "-XX:+SegmentedCodeCache", "-XX:+AggressiveHeap", "-Djava.awt.headless=true", "-Dio.netty.leakDetection.level=DISABLED",
        # Java 17 keeps what its byte code generators ask for to itself unless told.
        "--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED"]
LOGBACK = """<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%level %logger: %msg%n</pattern></encoder></appender>
  <root level="warn"><appender-ref ref="console"/></root>
</configuration>
"""


def fetch():
    """The jars, once per user. Two measurements may fetch at once: the rename is the commit."""
    if os.path.isdir(CACHE):
        return CACHE
    os.makedirs(os.path.dirname(CACHE), exist_ok=True)
    part = tempfile.mkdtemp(dir=os.path.dirname(CACHE), prefix="shardingsphere.")
    done = subprocess.run(["mvn", "-q", "-B", "-f", POM, "dependency:copy-dependencies", f"-DoutputDirectory={part}/lib"], capture_output=True, text=True,
                          timeout=900, start_new_session=True)
    if done.returncode:
        shutil.rmtree(part)
        raise RuntimeError(f"ShardingSphere-Proxy cannot be had: {(done.stdout + done.stderr).strip()[-400:]}")
    try:
        os.rename(part, CACHE)
    except OSError:
        shutil.rmtree(part)
    return CACHE


class ShardingSphere(System):
    name = "shardingsphere"
    shards = True
    # Its front door learnt TLS in a later version.
    tls = False
    # Its code is compiled while it runs.
    warmth = 4

    def start(self):
        home = fetch()
        self.port = free_port()
        os.makedirs(f"{self.folder}/conf", exist_ok=True)
        self.write("conf/logback.xml", LOGBACK)
        self.write("conf/server.yaml", f"""mode:
  type: Memory
rules:
  - !AUTHORITY
    users:
      - {topology.USER}@%:{topology.PASSWORD}
    provider:
      type: ALL_PRIVILEGES_PERMITTED
  - !TRANSACTION
    defaultType: LOCAL
props:
  max-connections-size-per-query: {topology.max_connections_per_query(self.variant)}
  sql-show: false
""")
        for name, text in topology.databases(self.bench.servers, self.family, self.variant, topology.ROOMY).items():
            self.write(f"conf/config-{name}.yaml", f"schemaName: {name}\n{text}")
        classes = f"{self.folder}/conf:{home}/lib/*"
        self.process = Process(["java", *JAVA, "-cp", classes, "org.apache.shardingsphere.proxy.Bootstrap", str(self.port), f"{self.folder}/conf"], self.log(),
                               # It writes files of its transactions where it stands.
                               cwd=self.folder)
        self.wait(300)
