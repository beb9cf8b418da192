# etcd from Debian's packages: sourced by `up` and `server`. One member; nobody else connects to its peer port, so the system picks it.

etcd_template() { mkdir -m 700 "$DIR/.template-etcd"; }

# etcd_start NAME PORT
etcd_start() {
  launch "$1" etcd --name "$1" --data-dir "$DIR/$1/data" \
    --listen-client-urls "http://127.0.0.1:$2" --advertise-client-urls "http://127.0.0.1:$2" \
    --listen-peer-urls "http://127.0.0.1:0" --initial-advertise-peer-urls "http://127.0.0.1:1" --initial-cluster "$1=http://127.0.0.1:1" \
    --heartbeat-interval 20 --election-timeout 200
  echo $! >"$DIR/$1.pid"
}

etcd_ready() {
  local answer
  answer=$( (exec 3<>"/dev/tcp/127.0.0.1/$2" && printf 'GET /health HTTP/1.0\r\n\r\n' >&3 && timeout 2 cat <&3) 2>/dev/null)
  [[ $answer == *'"health":"true"'* ]]
}
