#!/usr/bin/env bash
# Compares Quoll's durable engine with the redis-server of this machine: redis-benchmark runs
# against both in turns, and the ratio of the medians is printed, with the memory and the disk space that
# each side takes. Loopback only. Cases:
#
#   memory   one node, one replica, in memory: what the way    redis-server that saves nothing
#            from the client to the node costs by itself
#   one      one node, one replica, --fsync interval=100ms    the same
#   three    three nodes, three replicas, interval=100ms      the same
#   always   three nodes, three replicas, --fsync always      appendonly yes, appendfsync always
#
#   make bench-disk                   or: e2e/bench-disk.sh
#   CASES="one always"                which (default: all)
#   ROUNDS=5 REQUESTS=200000          how often (default 3), and how many requests each time (default 1000000)
#   COUNT=100000 SIZE=64 CLIENTS=16   keys (default 1000000), bytes of a value (1024), clients (50)
#   CACHE=256MiB                      --cache of each node (default: Quoll's own)
#   ENGINE=pebble                     the engine on disk (default badger)
#   ARGS="-P 16"                      more arguments for redis-benchmark
#   DIR=path                          where data is kept while it runs: on a disk, not in memory (default TMPDIR or /tmp)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-bin/quoll} rounds=${ROUNDS:-3} requests=${REQUESTS:-1000000} keys=${COUNT:-1000000} size=${SIZE:-1024} clients=${CLIENTS:-50} engine_on_disk=${ENGINE:-badger}
redis_port=16379 quoll_port=16380 base=16700

for program in redis-server redis-benchmark redis-cli; do
	command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 1; }
done
[ -x "$bin" ] || { echo "$bin is not there: run 'make build' first" >&2; exit 1; }
dir=${DIR:-${TMPDIR:-/tmp}}
case $(stat -f -c %T "$dir") in
tmpfs | ramfs) echo "$dir is in memory: give DIR= a directory on a disk" >&2; exit 1 ;;
esac
for port in "$redis_port" "$quoll_port"; do
	if redis-cli -p "$port" ping >/dev/null 2>&1; then
		echo "something listens on port $port already" >&2
		exit 1
	fi
done

work=$(mktemp -d "$dir/quoll-bench-disk.XXXXXX")
pids=()
stop() {
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
	pids=()
}
finish() {
	trap - EXIT
	stop
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

await() { # port log
	for _ in $(seq 150); do
		[ "$(redis-cli -p "$1" set quoll:bench ready 2>/dev/null)" = OK ] && return
		sleep 0.1
	done
	echo "port $1 does not answer:" >&2
	tail -n 5 "$2" >&2
	exit 1
}

start_quoll() { # fsync|none node...
	local cluster='' peers='' n=0 name data='' engine=(--engine memory)
	if [ "$1" != none ]; then
		data=yes engine=(--engine "$engine_on_disk" --fsync "$1" ${CACHE:+--cache "$CACHE"})
	fi
	shift
	for name in "$@"; do
		cluster+=${cluster:+,}$name=127.0.0.1:$((base + n)) peers+=${peers:+,}127.0.0.1:$((base + n))
		n=$((n + 10))
	done
	n=0
	for name in "$@"; do
		"$bin" node --name "$name" --peer "127.0.0.1:$((base + n))" --admin "127.0.0.1:$((base + 100 + n))" \
			--initial-cluster "$cluster" --replicas $# "${engine[@]}" ${data:+--data "$work/quoll/$name"} >"$work/$name.log" 2>&1 &
		pids+=($!)
		nodes+=($!)
		n=$((n + 10))
	done
	"$bin" proxy --listen "127.0.0.1:$quoll_port" --admin "127.0.0.1:$((base + 130))" --nodes "$peers" >"$work/proxy.log" 2>&1 &
	pids+=($!)
	proxy=$!
	await "$quoll_port" "$work/a.log"
}

start_redis() { # arguments
	redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --dir "$work/redis" "$@" >"$work/redis.log" 2>&1 &
	pids+=($!)
	redis=$!
	await "$redis_port" "$work/redis.log"
}

measure() { # name port
	# shellcheck disable=SC2086 # the arguments are words
	redis-benchmark -h 127.0.0.1 -p "$2" -t set,get -r "$keys" -n "$requests" -d "$size" -c "$clients" --csv ${ARGS:-} | tr -d '"' |
		awk -F, -v who="$1" '$1 != "test" { print who, $1, $2 }' >>"$work/results"
}

resident() { # pid...: MiB of each
	for pid in "$@"; do
		awk '/^VmRSS/ { printf "%d MiB ", $2 / 1024 }' "/proc/$pid/status"
	done
}

disk() { # name port directory copies
	local bytes held
	bytes=$(du -s --block-size=1 "$3" | cut -f 1)
	[ "$bytes" -gt 1048576 ] || return 0 # it keeps nothing there
	held=$(redis-cli -p "$2" dbsize)
	echo "$1: $((bytes / 1048576)) MiB on disk, $((bytes / held / $4)) bytes for each of the $4 copies of $held keys"
}

compare() {
	sort -k1,2 -k3,3n "$work/results" | awk -f e2e/ratios.awk
}

bench() { # title fsync nodes redis-arguments
	local title=$1 fsync=$2 names=$3
	shift 3
	echo
	echo "== $title"
	rm -rf "$work"/quoll "$work"/redis "$work"/results
	mkdir "$work/quoll" "$work/redis"
	nodes=()
	start_redis "$@"
	# shellcheck disable=SC2086 # the names are words
	start_quoll "$fsync" $names
	for round in $(seq "$rounds"); do
		measure redis "$redis_port"
		measure quoll "$quoll_port"
		echo "round $round of $rounds done"
	done
	compare
	echo "resident memory: redis $(resident "$redis"); quoll's nodes $(resident "${nodes[@]}"), proxy $(resident "$proxy")"
	disk redis "$redis_port" "$work/redis" 1
	disk quoll "$quoll_port" "$work/quoll" "${#nodes[@]}"
	stop
}

echo "redis-benchmark -t set,get -r $keys -n $requests -d $size -c $clients ${ARGS:-}, $rounds rounds in turns; on disk: $engine_on_disk"
for case in ${CASES:-memory one three always}; do
	case $case in
	memory) bench "one node, one replica, in memory; redis-server saves nothing" none a --appendonly no ;;
	one) bench "one node, one replica, --fsync interval=100ms; redis-server saves nothing" interval=100ms a --appendonly no ;;
	three) bench "three replicas, --fsync interval=100ms; redis-server saves nothing" interval=100ms 'a b c' --appendonly no ;;
	always) bench "three replicas, --fsync always; redis-server with appendonly yes, appendfsync always" always 'a b c' --appendonly yes --appendfsync always ;;
	*) echo "CASES: $case is none of memory, one, three, always" >&2; exit 1 ;;
	esac
done
