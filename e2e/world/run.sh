#!/usr/bin/env bash
# run.sh SEEDS SEED [flag...]: lets SEEDS worlds live, those from SEED on, in as many processes as there are processors.
# Each process has one processor to itself, and is not interrupted by the scheduler: so a seed that fails does so again nearly always (doc.go). Without
# huge pages a node's first page of memory is quickly there. Memberlist takes random numbers from the process: randautoseed=0 makes them the same
# each time. With -shrink the worlds of the seed that fail are made smaller.
set -euo pipefail
cd "$(dirname "$0")/../.."

seeds=$1 first=$2
shift 2
test=TestWorlds
[[ " $* " != *" -shrink "* ]] || test=TestShrink
processes=$(nproc)
[ "$seeds" -ge $((8 * processes)) ] || processes=1
each=$((seeds / processes))
export GODEBUG=asyncpreemptoff=1,disablethp=1,randautoseed=0 GOMAXPROCS=1
echo "$seeds worlds from seed $first on, in $processes processes"
seq 0 $((processes - 1)) | xargs -P "$processes" -I{} bash -c 'bin/world.test -test.run "^$3$" -test.v -test.timeout 0 -seeds "$1" -seed $(($2 + $1 * {})) "${@:4}"' bash "$each" "$first" "$test" "$@"
