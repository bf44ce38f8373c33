#!/bin/sh
# Fuzzes one target with one worker: e2e/fuzz.sh TIME DIRECTORY TARGET. `make fuzz` runs it for all.
set -u
time=$1 dir=$2 target=$3
log=bin/fuzz-$target.log

fuzz() {
	go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1s -parallel 1 >"$log" 2>&1
}

# Before Go 1.27 go test sometimes takes the end of its own time for a failure
# (https://go.dev/issue/75804). Such a run names no input and proves nothing: the target runs again.
interrupted() {
	grep -qx '    context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"
}

for attempt in 1 2 3; do
	if fuzz; then
		echo "ok    $dir $target"
		exit 0
	fi
	interrupted || break
done
cat "$log"
echo "FAIL  $dir $target"
exit 255
