#!/usr/bin/env bash
# Fetches the source of redis-server, and unpacks it into a directory, unless it is there: Debian's source package, from where this machine gets its packages.
#
#	e2e/redissuite/fetch.sh DIR
set -euo pipefail
dir=$1
[ ! -f "$dir/tests/test_helper.tcl" ] || exit 0
mkdir -p "$dir" "$dir.apt/parts" "$dir.apt/lists/partial"
cd "$dir.apt"
# The same places, asked for sources.
: >sources.list
[ ! -f /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >sources.list
for file in /etc/apt/sources.list.d/debian*.sources; do
	[ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"parts/${file##*/}"
done
apt=(-o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts="$PWD/parts" -o Dir::State::Lists="$PWD/lists" -o APT::Sandbox::User=root)
apt-get "${apt[@]}" update -qq
apt-get "${apt[@]}" source --download-only -qq redis
tar -x -z --strip-components 1 -C "$dir" -f redis_*.orig.tar.gz
