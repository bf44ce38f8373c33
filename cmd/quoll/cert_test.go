package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCert: a CA and certificates by it are made, once; what is wrong is said, with what to do about it.
func TestCert(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	run := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = (&app{stdout: &stdout, stderr: &stderr}).run(append([]string{"cert"}, args...))
		return code, stdout.String(), stderr.String()
	}
	code, _, errs := run("node", "n1", "--dir", dir)
	require.Equal(t, exitFailure, code)
	require.Contains(t, errs, "quoll cert init makes one")
	code, out, _ := run("init", "--dir", dir, "--cluster-name", "prod")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "made the CA of cluster prod")
	for _, args := range [][]string{{"node", "n1", "--hosts", "10.0.0.1,n1.example"}, {"proxy", "p1"}, {"client", "alice", "--out", filepath.Join(dir, "out")}} {
		code, _, errs := run(append(args, "--dir", dir)...)
		require.Equal(t, exitOK, code, errs)
	}
	for _, file := range []string{"ca.crt", "ca.key", "node.n1.crt", "node.n1.key", "proxy.p1.crt", "out/client.alice.key"} {
		_, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
	}
	for says, args := range map[string][]string{
		"the file exists":                                         {"init", "--dir", dir},
		"node.n1.crt; move it away":                               {"node", "n1", "--dir", dir},
		"NAME: \"a/b\" is not a name":                             {"node", "a/b", "--dir", dir},
		"hosts: \"h:1\" is neither an IP address nor a host name": {"node", "n2", "--dir", dir, "--hosts", "h:1"},
		"valid: 1s is too short":                                  {"client", "c", "--dir", dir, "--valid", "1s"},
		"accepts 1 arg(s), received 0":                            {"node", "--dir", dir},
	} {
		code, _, errs := run(args...)
		require.NotEqual(t, exitOK, code)
		require.Contains(t, errs, says)
	}
}
