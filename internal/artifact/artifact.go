// Package artifact keeps what a failing test leaves behind: logs, histories,
// whatever helps to find out what happened.
package artifact

import (
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
)

// Variable names the directory in which the folders are made. Without it, it is the
// system's directory for temporary files.
const Variable = "QUOLL_ARTIFACTS"

var (
	mu      sync.Mutex
	folders = map[string]string{} // by the name of the test
)

// Dir returns the test's folder, which is made at the first call. If the test fails the
// folder stays and the test's log names it; otherwise it is removed. Cleanups that were
// registered after the first call still find it.
func Dir(t testing.TB) string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if dir, ok := folders[t.Name()]; ok {
		return dir
	}
	dir, err := makeFolder(t.Name())
	if err != nil {
		t.Fatalf("artifact: %v (is %s right?)", err, Variable)
	}
	folders[t.Name()] = dir
	t.Cleanup(func() {
		mu.Lock()
		delete(folders, t.Name())
		mu.Unlock()
		if t.Failed() {
			t.Logf("artefacts of this run: %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("artifact: %v", err)
		}
	})
	return dir
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

func makeFolder(test string) (string, error) {
	parent := os.Getenv(Variable)
	if parent == "" {
		parent = os.TempDir()
	} else if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, "quoll-"+unfit.ReplaceAllString(test, "-")+"-")
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}
