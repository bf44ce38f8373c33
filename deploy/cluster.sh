#!/usr/bin/env bash
# Runs a cluster on this machine as it would run on four: three nodes and a proxy, each a
# process of its own, until Ctrl-C. Everything is on loopback, all data in memory.
#
#   make cluster                 or: deploy/cluster.sh
#   PORT=7777 deploy/cluster.sh  the port for Redis clients (default 6379)
#   BASE=8000                    the first of the nodes' ports (default 7000)
#   BIN=path                     the binary (default bin/quoll)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-bin/quoll} port=${PORT:-6379} base=${BASE:-7000}
[ -x "$bin" ] || { echo "$bin is not there: run 'make build' first" >&2; exit 1; }

logs=$(mktemp -d "${TMPDIR:-/tmp}/quoll-cluster.XXXXXX")
cluster=a=127.0.0.1:$base,b=127.0.0.1:$((base + 10)),c=127.0.0.1:$((base + 20))
pids=()
finish() {
	trap - EXIT
	kill "${pids[@]}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
	rm -rf "$logs"
}
trap finish EXIT
trap 'exit 0' INT TERM

n=0
for name in a b c; do
	"$bin" node --name "$name" --peer "127.0.0.1:$((base + n))" --admin "127.0.0.1:$((base + 100 + n))" \
		--initial-cluster "$cluster" >"$logs/$name.log" 2>&1 &
	pids+=($!)
	n=$((n + 10))
done
"$bin" proxy --listen "127.0.0.1:$port" --admin "127.0.0.1:$((base + 130))" \
	--nodes "127.0.0.1:$base,127.0.0.1:$((base + 10)),127.0.0.1:$((base + 20))" >"$logs/proxy.log" 2>&1 &
pids+=($!)

for _ in $(seq 100); do
	if "$bin" health --admin "127.0.0.1:$((base + 130))" >/dev/null 2>&1; then
		ready=1
		break
	fi
	sleep 0.1
done
if [ -z "${ready:-}" ]; then
	echo "the cluster did not form; the last lines of the logs:" >&2
	tail -n 3 "$logs"/*.log >&2
	exit 1
fi

cat <<END
Three nodes and a proxy run. Redis clients connect to 127.0.0.1:$port. In another terminal:

  redis-cli -p $port set greeting hello
  $bin ring status --admin 127.0.0.1:$((base + 130))
  kill -9 ${pids[1]}      # node b; a is ${pids[0]}, c is ${pids[2]}, the proxy is ${pids[3]}
  redis-cli -p $port get greeting

Logs are in $logs. Ctrl-C ends it all; the data is gone then.
END
wait "${pids[3]}"
