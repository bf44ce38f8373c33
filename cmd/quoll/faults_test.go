package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// traces are strings that are in every binary that can inject faults: the path of the
// call, and the names of its code in packages admin, wire and node.
var traces = []string{
	"/v1/faults", "admin.currentFaults", "admin/faults.go", "wire.InjectFaults", "wire.(*faultLine).decide", "wire/faultline.go", "node/faults.go",
}

// TestOnlyBuildsForTestsCanInjectFaults builds the program as it is shipped, and as
// tests use it.
func TestOnlyBuildsForTestsCanInjectFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program twice")
	}
	for _, build := range []struct {
		tags    string
		version string
		faults  bool
	}{{"", "", false}, {"faults", ", with fault injection: for tests only\n", true}} {
		path := filepath.Join(t.TempDir(), "quoll")
		output, err := exec.CommandContext(t.Context(), "go", "build", "-tags", build.tags, "-o", path, ".").CombinedOutput()
		require.NoError(t, err, string(output))
		binary, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, trace := range traces {
			require.Equal(t, build.faults, bytes.Contains(binary, []byte(trace)), "%q with tags %q", trace, build.tags)
		}
		version, err := exec.CommandContext(t.Context(), path, "version").Output()
		require.NoError(t, err)
		require.Contains(t, string(version), build.version)
		require.Equal(t, build.faults, bytes.Contains(version, []byte("fault")))
	}
}
