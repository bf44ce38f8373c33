#!/usr/bin/env bash
# Runs a cluster on this machine as it would run on four: three nodes and a proxy, each a
# process of its own, until Ctrl-C. Everything is on loopback. Data is in memory, or kept on disk:
#
#   make cluster                 or: deploy/cluster.sh
#   PORT=7777 deploy/cluster.sh  the port for Redis clients (default 6379)
#   BASE=8000                    the first of the nodes' ports (default 7000)
#   BIN=path                     the binary (default bin/quoll)
#   ENGINE=badger                keep the data on disk, for the next time
#   DATA=dir                     where (default .quoll-data in the repository), in a directory for each node
#   FSYNC=interval=100ms         when it is forced to disk (default always)
set -euo pipefail
case ${DATA:-} in
"" | /*) data=${DATA:-} ;;
*) data=$PWD/$DATA ;;
esac
cd "$(dirname "$0")/.."
bin=${BIN:-bin/quoll} port=${PORT:-6379} base=${BASE:-7000}
[ -x "$bin" ] || { echo "$bin is not there: run 'make build' first" >&2; exit 1; }
engine=${ENGINE:-memory} fsync=${FSYNC:-}
kept="The data is gone then."
start="comes back without its data, which was in memory, and gets it from the others again"
if [ "$engine" != memory ]; then
	data=${data:-$PWD/.quoll-data}
	start="starts node b again"
	kept="The data stays in $data: it is there again with the same ENGINE and DATA."
fi

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

# Each process has a group of its own, which Ctrl-C does not reach: finish stops it, once. A second
# signal would end it before all is on disk.
set -m
n=0
for name in a b c; do
	store=(--engine "$engine")
	[ -z "$data" ] || store+=(--data "$data/$name")
	[ -z "$fsync" ] || store+=(--fsync "$fsync")
	node=("$bin" node --name "$name" --peer "127.0.0.1:$((base + n))" --admin "127.0.0.1:$((base + 100 + n))"
		--initial-cluster "$cluster" "${store[@]}")
	"${node[@]}" >"$logs/$name.log" 2>&1 &
	pids+=($!)
	[ "$name" != b ] || again=${node[*]}
	n=$((n + 10))
done
"$bin" proxy --listen "127.0.0.1:$port" --admin "127.0.0.1:$((base + 130))" \
	--nodes "127.0.0.1:$base,127.0.0.1:$((base + 10)),127.0.0.1:$((base + 20))" >"$logs/proxy.log" 2>&1 &
pids+=($!)
set +m

# A node that has much data to look at takes its time. One that has ended will not come.
for _ in $(seq 600); do
	if "$bin" health --admin "127.0.0.1:$((base + 130))" >/dev/null 2>&1; then
		ready=1
		break
	fi
	[ "$(jobs -r | wc -l)" -eq 4 ] || break
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
  $again      # $start

It grows and shrinks while clients go on:

  $bin node --name d --peer 127.0.0.1:$((base + 30)) --admin 127.0.0.1:$((base + 140)) --join 127.0.0.1:$base &
  export QUOLL_ADMIN=127.0.0.1:$((base + 100))
  $bin ring plan join d && $bin ring commit && $bin ring watch
  $bin node leave --admin 127.0.0.1:$((base + 140))

Logs are in $logs. Ctrl-C ends it all. $kept
END
wait "${pids[3]}"
