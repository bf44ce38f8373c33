#!/usr/bin/env bash
# Measures what evictions cost: three nodes in memory and a proxy whose memory is full, so that each new key makes another one go, beside the same without a limit. Each
# is started in turns, and gets as many keys to begin with and then the same number of SETs of new keys; the ratio of the medians is printed, of SETs a second (more is better) and of CPU time of all four
# processes for each SET (less is better). Where others use the machine only the CPU time means something. Loopback only.
#
#   make bench-evict                  or: e2e/bench-evict.sh
#   ROUNDS=5 REQUESTS=1000000         how often (default 3), and how many SETs are measured each time (default 300000)
#   SIZE=1024 DEPTH=1                 bytes of a value (default 100), and commands of a pipeline (default 16)
#   MAXMEMORY=96MiB KEYS=110000       the limit of each node (default 48MiB), and keys to begin with: more than there is memory for (default 400000)
#   POLICY=allkeys-random             which keys go (default allkeys-lru)
#   BIN=path PORT=8100                the binary (default bin/quoll), and the first of the ports (default 16900)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-bin/quoll} rounds=${ROUNDS:-3} requests=${REQUESTS:-300000} size=${SIZE:-100} depth=${DEPTH:-16}
keys=${KEYS:-400000} limit=${MAXMEMORY:-48MiB} policy=${POLICY:-allkeys-lru} port=${PORT:-16900}

for program in redis-benchmark redis-cli; do
	command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 1; }
done
# A port that answers already is somebody else's: it must not be measured.
if redis-cli -p "$((port + 50))" ping >/dev/null 2>&1; then
	echo "something listens on port $((port + 50)) already" >&2
	exit 1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/quoll-bench.XXXXXX")
pids=()
stop() {
	kill "${pids[@]}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
	pids=()
}
trap 'stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# start starts a cluster with more arguments for its nodes.
start() {
	local n cluster=a=127.0.0.1:$port,b=127.0.0.1:$((port + 10)),c=127.0.0.1:$((port + 20))
	for n in 0 1 2; do
		"$bin" node --name "$(echo abc | cut -c$((n + 1)))" --peer "127.0.0.1:$((port + 10 * n))" --admin "127.0.0.1:$((port + 60 + n))" \
			--initial-cluster "$cluster" "$@" >"$work/node$n.log" 2>&1 &
		pids+=($!)
	done
	"$bin" proxy --listen "127.0.0.1:$((port + 50))" --admin "127.0.0.1:$((port + 70))" \
		--nodes "127.0.0.1:$port,127.0.0.1:$((port + 10)),127.0.0.1:$((port + 20))" >"$work/proxy.log" 2>&1 &
	pids+=($!)
	for _ in $(seq 300); do
		"$bin" health --admin "127.0.0.1:$((port + 70))" >/dev/null 2>&1 && return
		sleep 0.1
	done
	echo "the cluster did not form:" >&2
	tail -n 3 "$work"/*.log >&2
	exit 1
}

# spent is the CPU time of all processes, in ticks of the clock.
spent() {
	for pid in "${pids[@]}"; do sed 's/.*) //' "/proc/$pid/stat"; done | awk '{ sum += $12 + $13 } END { print sum }'
}

# sets writes so many new keys, and prints how many in a second.
sets() { # how many, depth
	redis-benchmark -p "$((port + 50))" -t set -r 1000000000 -d "$size" -c 50 -P "$2" -n "$1" --csv 2>"$work/errors" |
		tr -d '"' | awk -F, '$1 == "SET" { print $2 }'
	! grep -i error "$work/errors" >&2
}

# evicted is how many keys have gone.
evicted() { redis-cli -p "$((port + 50))" info stats | tr -d '\r' | awk -F: '$1 == "evicted_keys" { print $2 }'; }

measure() { # name, arguments of nodes
	local name=$1 before gone rate
	shift
	start "$@"
	sets "$keys" 16 >/dev/null
	before=$(spent) gone=$(evicted)
	rate=$(sets "$requests" "$depth")
	awk -v name="$name" -v rate="$rate" -v ticks="$(($(spent) - before))" -v hz="$(getconf CLK_TCK)" -v n="$requests" \
		-v gone="$(($(evicted) - gone))" 'BEGIN { print name, rate, ticks / hz / n * 1e6, gone / n }' | tee -a "$work/results"
	stop
	[ "$name" = free ] || [ "$gone" -gt 0 ] || {
		echo "no key had gone before the measurement: more KEYS, or less MAXMEMORY" >&2
		exit 1
	}
}
echo "SETs of $size B, depth $depth: SETs a second, µs of CPU for each, keys evicted for each"
for _ in $(seq "$rounds"); do
	measure full --maxmemory "$limit" --maxmemory-policy "$policy"
	measure free
done
median() { awk -v name="$1" -v f="$2" '$1 == name { print $f }' "$work/results" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
awk -v a="$(median full 2)" -v b="$(median free 2)" -v c="$(median full 3)" -v d="$(median free 3)" \
	'BEGIN { printf "full beside free: %.2f of the SETs a second, %.2f times the CPU\n", a / b, c / d }'
