#!/usr/bin/env bash
# Makes the profile that the compiler optimizes bin/quoll by (cmd/quoll/default.pgo) anew: of the proxy and the nodes of a cluster of processes, while SET, GET, HSET, HGET, INCR, LPUSH, LPOP and
# ZADD are run at depth 1, 16 and 64. The profiles are merged. Make it when what a command goes through has moved to other functions: the compiler knows them by their names. Loopback only.
#
#   make profile            or: e2e/profile.sh
#   SECONDS_EACH=5          how long each is looked at (default 4)
#   KEYS=100000             how many keys there are (default 1000000)
#   BIN=path PORT=8100      the binary (default bin/quoll), and the first of the ports (default 17100)
#   OUT=path                where the profile goes (default cmd/quoll/default.pgo)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-bin/quoll} each=${SECONDS_EACH:-4} keys=${KEYS:-1000000} port=${PORT:-17100} out=${OUT:-cmd/quoll/default.pgo}

for program in redis-benchmark redis-cli curl; do
	command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 1; }
done
if redis-cli -p "$port" ping >/dev/null 2>&1; then
	echo "something listens on port $port already" >&2
	exit 1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/quoll-profile.XXXXXX")
PORT=$port BASE=$((port + 10)) BIN=$bin deploy/cluster.sh >"$work/cluster.log" 2>&1 &
cluster=$!
load=
trap 'kill $load $cluster 2>/dev/null || true; wait; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
for _ in $(seq 300); do
	[ "$(redis-cli -p "$port" ping 2>/dev/null)" != PONG ] || break
	sleep 0.1
done
redis-benchmark -p "$port" -r "$keys" -n "$keys" -P 64 -q -d 64 set key:__rand_int__ x >/dev/null

# look runs a command at a depth as long as the profiles of all processes take.
look() {
	local depth=$1 looking=() admin
	shift
	redis-benchmark -p "$port" -r "$keys" -n 1000000000 -c 50 -P "$depth" -q "$@" >/dev/null 2>&1 &
	load=$!
	for admin in 110 120 130 140; do
		curl -sSf -o "$work/$1-$depth-$admin.pprof" "http://127.0.0.1:$((port + admin))/debug/pprof/profile?seconds=$each" &
		looking+=($!)
	done
	wait "${looking[@]}"
	kill "$load"
	wait "$load" 2>/dev/null || true
	load=
}

value=$(printf 'v%.0s' $(seq 64))
for depth in 1 16 64; do
	look "$depth" set key:__rand_int__ "$value"
	look "$depth" get key:__rand_int__
	look "$depth" hset hash:__rand_int__ field "$value"
	look "$depth" hget hash:__rand_int__ field
	look "$depth" incr number:__rand_int__
	look "$depth" lpush list:__rand_int__ "$value"
	look "$depth" lpop list:__rand_int__
	look "$depth" zadd scores:__rand_int__ 1 member
done
go tool pprof -proto -output "$work/merged.pprof" "$bin" "$work"/*-*.pprof >/dev/null 2>"$work/pprof.log" || { cat "$work/pprof.log" >&2; exit 1; }
mv "$work/merged.pprof" "$out"
echo "Wrote $out, $(stat -c %s "$out") bytes."
