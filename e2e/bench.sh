#!/usr/bin/env bash
# Compares Quoll (three node processes and a proxy, every key on three nodes) with the
# redis-server of this machine (one process, nothing replicated, nothing saved): redis-benchmark
# runs against both in turns, and the ratio of the medians is printed. Loopback only.
#
#   make bench                        or: e2e/bench.sh
#   ROUNDS=5 REQUESTS=2000000         how often (default 3), and how much (default 1000000)
#   ARGS="-t incr -P 1"               what (default -t set,get -P 16 -c 50 -r 100000 -d 64)
#   COMMANDS=exec,mset                with quoll bench instead, a phase of SECONDS_EACH (5) seconds each, at DEPTH (1)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-3} requests=${REQUESTS:-1000000}
commands=${COMMANDS:-} seconds=${SECONDS_EACH:-5} depth=${DEPTH:-1}
args=${ARGS:--t set,get -P 16 -c 50 -r 100000 -d 64}
redis_port=16379 quoll_port=16380 base=16700

for program in redis-server redis-benchmark redis-cli; do
	command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 1; }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/quoll-bench.XXXXXX")
pids=()
finish() {
	trap - EXIT
	kill "${pids[@]}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# A port that answers already is somebody else's: it must not be measured, nor flushed.
for port in "$redis_port" "$quoll_port"; do
	if redis-cli -p "$port" ping >/dev/null 2>&1; then
		echo "something listens on port $port already" >&2
		exit 1
	fi
done
redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --appendonly no --dir "$work" >"$work/redis.log" 2>&1 &
pids+=($!)
PORT=$quoll_port BASE=$base deploy/cluster.sh >"$work/cluster.log" 2>&1 &
pids+=($!)
await() { # port log
	for _ in $(seq 150); do
		[ "$(redis-cli -p "$1" set quoll:bench ready 2>/dev/null)" = OK ] && return
		sleep 0.1
	done
	echo "port $1 does not answer:" >&2
	cat "$2" >&2
	exit 1
}
await "$redis_port" "$work/redis.log"
await "$quoll_port" "$work/cluster.log"

measure() { # name port
	if [ -n "$commands" ]; then
		bin/quoll bench --addr "127.0.0.1:$2" --commands "$commands" --depth "$depth" --duration "${seconds}s" -o csv 2>/dev/null |
			awk -F, -v who="$1" 'NR > 1 { print who, $2, $3 }' >>"$work/results"
		return
	fi
	# shellcheck disable=SC2086 # the arguments are words
	redis-benchmark -h 127.0.0.1 -p "$2" -n "$requests" --csv $args | tr -d '"' |
		awk -F, -v who="$1" '$1 != "test" { print who, $1, $2 }' >>"$work/results"
}
what="redis-benchmark -n $requests $args"
[ -z "$commands" ] || what="quoll bench --commands $commands --depth $depth --duration ${seconds}s"
echo "$what, $rounds rounds in turns"
for round in $(seq "$rounds"); do
	measure redis "$redis_port"
	measure quoll "$quoll_port"
	echo "round $round of $rounds done"
done

echo
sort -k1,2 -k3,3n "$work/results" | awk -f e2e/ratios.awk
