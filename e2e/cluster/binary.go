package cluster

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// binary is the quoll to run.
var binary string

// faults is a quoll with the fault layer, which is built when a test first needs it.
var faults struct {
	once sync.Once
	path string
	err  error
}

// Main is what a package's TestMain calls: it builds quoll, runs the tests and returns
// the exit code.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "quoll-e2e-")
	if err == nil {
		defer os.RemoveAll(dir)
		faults.path = filepath.Join(dir, "quoll-faults")
		binary, err = build("E2E_BINARY", filepath.Join(dir, "quoll"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// faultsBinary returns the quoll with the fault layer.
func faultsBinary(t testing.TB) string {
	faults.once.Do(func() { faults.path, faults.err = build("E2E_FAULTS_BINARY", faults.path, "-tags", "faults") })
	if faults.err != nil {
		t.Fatal(faults.err)
	}
	return faults.path
}

// build returns the binary that a variable names, or builds one, as make build does: what it has compiled is not compiled
// once more.
func build(variable, path string, flags ...string) (string, error) {
	if given := os.Getenv(variable); variable != "" && given != "" {
		return given, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", fmt.Errorf("cluster: looking for quoll's sources: %w", err)
	}
	args := append(append([]string{"build", "-C", root, "-trimpath", "-o", path}, flags...), strings.Fields(os.Getenv("E2E_BUILD_FLAGS"))...)
	build := exec.Command("go", append(args, "github.com/quolldb/quoll/cmd/quoll")...)
	if !slices.Contains(args, "-race") { // which needs cgo
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cluster: building quoll: %w\n%s", err, out)
	}
	return path, nil
}

var sources sync.Once

// lookAtSources makes go test notice when the product has changed. It knows nothing of
// what a test starts, only of the files that the test itself looks at while it runs, and would show an
// old result as "(cached)".
func lookAtSources(t testing.TB) {
	sources.Do(func() {
		root, err := moduleRoot()
		for _, dir := range []string{"cmd", "proxy", "node", "ring", "internal"} {
			if err == nil {
				err = filepath.WalkDir(filepath.Join(root, dir), look)
			}
		}
		if err != nil {
			t.Fatalf("cluster: looking at the sources: %v", err)
		}
	})
}

// moduleRoot is the folder of quoll's module, also for tests of another one (e2e/libraries).
func moduleRoot() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/quolldb/quoll").Output()
	return strings.TrimSpace(string(root)), err
}

func look(path string, _ fs.DirEntry, err error) error {
	if err == nil && filepath.Ext(path) == ".go" {
		_, err = os.Stat(path)
	}
	return err
}
