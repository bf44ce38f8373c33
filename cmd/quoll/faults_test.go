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
	"/v1/faults", "admin.currentFaults", "admin/faults.go", "wire.InjectFaults", "wire.(*faultLine).decide", "wire/faultline.go", "node/faults.go", "clock.Shift",
}

// TestShippedBuildsCannotInjectFaults builds the program as it is shipped, but for the profile: that decides about inlining, and
// all dependencies would be compiled once more.
func TestShippedBuildsCannotInjectFaults(t *testing.T) {
	binary, version := buildWith(t, "")
	for _, trace := range traces {
		require.False(t, bytes.Contains(binary, []byte(trace)), trace)
	}
	require.NotContains(t, version, "fault")
}

// TestBuildsForTestsSaySo: and the traces are indeed there.
func TestBuildsForTestsSaySo(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program once more")
	}
	binary, version := buildWith(t, "faults")
	for _, trace := range traces {
		require.True(t, bytes.Contains(binary, []byte(trace)), trace)
	}
	require.Contains(t, version, ", with fault injection: for tests only\n")
}

// buildWith builds the program and returns it, and what it says of its version.
func buildWith(t *testing.T, tags string) (binary []byte, version string) {
	path := filepath.Join(t.TempDir(), "quoll")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-pgo=off", "-tags", tags, "-o", path, ".").CombinedOutput()
	require.NoError(t, err, string(output))
	binary, err = os.ReadFile(path)
	require.NoError(t, err)
	said, err := exec.CommandContext(t.Context(), path, "version").Output()
	require.NoError(t, err)
	return binary, string(said)
}
