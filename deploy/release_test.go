package deploy

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a release is built with, as scripts: a compiler whose binary says with which version it was built, and which runs what prints
// licences and what writes down the parts of a binary; a Docker whose images are texts; and a git.
var releaseTools = map[string]string{
	"go": `#!/bin/sh
if [ "$1 $2" = "run ./deploy/notices" ]; then
	echo licences
	exit
fi
while [ $# -gt 0 ]; do
	case $1 in
	-o | -output) out=$2; shift ;;
	-ldflags) flags=$2; shift ;;
	esac
	shift
done
printf '#!/bin/sh\necho "$*" for %s/%s: %s\n' "$GOOS" "$GOARCH" "$flags" >"$out"
chmod +x "$out"
`,
	"docker": "#!/bin/sh\n[ -z \"$NO_DOCKER\" ] || exit 1\necho \"$*\"\n",
	"git":    "#!/bin/sh\ncase $* in\nrev-parse*) echo 0123abc ;;\nlog*) echo 1700000000 ;;\nstatus*) printf \"$CHANGED\" ;;\nesac\n",
}

// release runs release.sh in a tree of its own and returns where, and what it printed.
func release(t *testing.T, environ ...string) (tree, output string, err error) {
	tree, tools := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(tree, "deploy"), 0o755))
	for name, text := range releaseTools {
		require.NoError(t, os.WriteFile(filepath.Join(tools, name), []byte(text), 0o755))
	}
	for _, name := range []string{"deploy/release.sh", "Makefile", "LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(tree, name), text, 0o755))
	}
	require.NoError(t, os.CopyFS(filepath.Join(tree, "deploy", "systemd"), os.DirFS("systemd")))
	require.NoError(t, os.Mkdir(filepath.Join(tree, "bin"), 0o755))
	command := exec.Command(filepath.Join(tree, "deploy", "release.sh"))
	command.Env = append([]string{"PATH=" + tools + ":" + os.Getenv("PATH"), "VERSION=v0.1.0"}, environ...)
	out, err := command.CombinedOutput()
	return tree, string(out), err
}

// contents are the files of an archive.
func contents(t *testing.T, path string) map[string]string {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	found := map[string]string{}
	for in := tar.NewReader(unzipped); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		if h.Typeflag == tar.TypeReg {
			text, err := io.ReadAll(in)
			require.NoError(t, err)
			found[h.Name] = string(text)
		}
	}
}

func TestARelease(t *testing.T) {
	tree, output, err := release(t)
	require.NoError(t, err, output)
	made := filepath.Join(tree, "bin", "release")
	for _, arch := range []string{"amd64", "arm64"} {
		name := "quoll-v0.1.0-linux-" + arch
		files := contents(t, filepath.Join(made, name+".tar.gz"))
		require.Len(t, files, 10)
		for _, file := range []string{"LICENSE", "THIRD_PARTY_LICENSES", "systemd/quoll-node.service", "systemd/quoll-proxy.service", "README.md", "CHANGELOG.md", "completions/quoll.bash", "completions/quoll.zsh", "completions/quoll.fish"} {
			require.NotEmpty(t, files[name+"/"+file], file)
		}
		require.Contains(t, files[name+"/quoll"], "for linux/"+arch)
		require.Contains(t, files[name+"/quoll"], "-X main.version=v0.1.0 -X main.commit=0123abc")
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = made
	sums, err := check.CombinedOutput()
	require.NoError(t, err, string(sums))
	require.Equal(t, 5, strings.Count(string(sums), ": OK"), "two archives, their parts and the image")

	again, output, err := release(t)
	require.NoError(t, err, output)
	first, err := os.ReadFile(filepath.Join(made, "SHA256SUMS"))
	require.NoError(t, err)
	second, err := os.ReadFile(filepath.Join(again, "bin", "release", "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, string(first), string(second), "the same commit, the same archives")

	tree, output, err = release(t, "NO_IMAGE=1", "NO_DOCKER=1", "PLATFORMS=linux/amd64")
	require.NoError(t, err, output)
	archives, err := filepath.Glob(filepath.Join(tree, "bin", "release", "*.tar.gz"))
	require.NoError(t, err)
	require.Len(t, archives, 1)
}

// TestNoRelease: one line that says what to do, and nothing is built.
func TestNoRelease(t *testing.T) {
	for environ, says := range map[string]string{
		"VERSION=9222c55": "make release VERSION=v0.1.0", "VERSION=": "make release VERSION=v0.1.0", "VERSION=v7.0.0": "CHANGELOG.md has no section for 7.0.0",
		"CHANGED= M x": "git status", "NO_DOCKER=1": "NO_IMAGE=1",
	} {
		tree, output, err := release(t, environ)
		require.Error(t, err, environ)
		require.Contains(t, output, says)
		require.Equal(t, 1, strings.Count(output, "\n"), output)
		require.NoDirExists(t, filepath.Join(tree, "bin", "release"))
	}
}
