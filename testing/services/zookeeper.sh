# ZooKeeper from Debian's packages: sourced by `up` and `server`. One server without an ensemble, in a small Java process.

# The jars a server needs, of those that Debian's package may bring.
zookeeper_jars() {
  local name
  for name in zookeeper zookeeper-jute slf4j-api slf4j-nop metrics3-core metrics-core snappy-java netty netty-all log4j-1.2 commons-cli jline; do
    [ ! -e "/usr/share/java/$name.jar" ] || printf '/usr/share/java/%s.jar:' "$name"
  done
}

zookeeper_template() { mkdir "$DIR/.template-zk"; }

# zookeeper_start NAME PORT. A tick of 200 ms lets sessions expire within half a second, for tests that wait for it. No fsync: a test
# that ends the process loses nothing, as the system keeps what was written.
zookeeper_start() {
  cat >"$DIR/$1/zoo.cfg" <<C
tickTime=200
dataDir=$DIR/$1/data
clientPort=$2
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=ruok
maxClientCnxns=0
C
  launch "$1" java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m -Dzookeeper.forceSync=no -Dzookeeper.preAllocSize=1024 \
    -Djava.net.preferIPv4Stack=true -cp "$(zookeeper_jars)" org.apache.zookeeper.server.ZooKeeperServerMain "$DIR/$1/zoo.cfg"
  echo $! >"$DIR/$1.pid"
}

zookeeper_ready() {
  local answer
  answer=$( (exec 3<>"/dev/tcp/127.0.0.1/$2" && printf ruok >&3 && timeout 2 cat <&3) 2>/dev/null)
  [ "$answer" = imok ]
}
