#!/usr/bin/env bash
# Builds what a release consists of: make release VERSION=v0.1.0
#
#   bin/release/quoll-VERSION-OS-ARCH.tar.gz   for each of PLATFORMS: the binary, LICENSE, THIRD_PARTY_LICENSES, README, CHANGELOG, completions, units for systemd
#   bin/release/quoll-VERSION-OS-ARCH.cdx.json what the binary consists of (SBOM), in CycloneDX' format
#   bin/release/quoll-VERSION-image.tar.gz     the container image quoll:VERSION, for docker load (NO_IMAGE=1: none)
#   bin/release/SHA256SUMS                     of all of them: sha256sum -c SHA256SUMS
#
# The same commit makes the same archives of the binary; an image has the date of its making. It sets no tag and publishes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
	echo "$*" >&2
	exit 1
}

version=${VERSION:-}
platforms=${PLATFORMS:-linux/amd64 linux/arm64}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
	die "VERSION=$version is not a version: give it as in 'make release VERSION=v0.1.0'"
number=${version#v}
grep -qF "## [${number%%-*}] - " CHANGELOG.md ||
	die "CHANGELOG.md has no section for ${number%%-*}: make one of what is under Unreleased, '## [${number%%-*}] - $(date +%F)'"
[ -z "$(git status --porcelain)" ] || die "Files are changed and not committed (git status): a release says which commit it was made of"
[ -n "${NO_IMAGE:-}" ] || docker version >/dev/null 2>&1 ||
	die "Docker does not answer, and the image is part of a release: start it, or leave the image out with NO_IMAGE=1"
commit=$(git rev-parse HEAD) made=$(git log -1 --format=%ct)

out=bin/release
# What writes the SBOM, from what Go has noted in the binary.
sbom=(go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0 bin -json -std -noserial -notimestamp -version "$version")
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make --no-print-directory build VERSION="$version" COMMIT="$commit"
mkdir "$work/completions"
for shell in bash zsh fish; do
	bin/quoll completion "$shell" >"$work/completions/quoll.$shell"
done

go run ./deploy/notices >"$work/THIRD_PARTY_LICENSES"

# pack makes an archive of a directory ($1, below work) that does not depend on when and by whom.
pack() {
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$made" -cf - "$1" | gzip -n9 >"$out/$1.tar.gz"
	echo "$out/$1.tar.gz"
}

for platform in $platforms; do
	name=quoll-$version-${platform%/*}-${platform#*/}
	mkdir "$work/$name"
	# The flags are those of make build.
	CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build -trimpath \
		-ldflags "-X main.version=$version -X main.commit=$commit" -o "$work/$name/quoll" ./cmd/quoll
	cp -r LICENSE README.md CHANGELOG.md deploy/systemd "$work/THIRD_PARTY_LICENSES" "$work/completions" "$work/$name"
	"${sbom[@]}" -output "$out/$name.cdx.json" "$work/$name/quoll"
	pack "$name"
	echo "$out/$name.cdx.json"
done
if [ -z "${NO_IMAGE:-}" ]; then
	make --no-print-directory image VERSION="$version" COMMIT="$commit"
	docker save "quoll:$version" | gzip -n9 >"$out/quoll-$version-image.tar.gz"
	echo "$out/quoll-$version-image.tar.gz"
fi
(cd "$out" && sha256sum -- *.tar.gz *.cdx.json >SHA256SUMS)
echo "$out/SHA256SUMS"
bin/quoll version
