package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/certs"
	"github.com/quolldb/quoll/internal/config"
)

// TestWrongFilesOfTLSAreNamed by the setting that gave them.
func TestWrongFilesOfTLSAreNamed(t *testing.T) {
	dir := t.TempDir()
	ca, err := certs.NewAuthority(dir, "quoll", time.Hour)
	require.NoError(t, err)
	cert, key, err := ca.Issue(certs.Request{Role: certs.Client, Name: "alice", Valid: time.Hour})
	require.NoError(t, err)
	good := config.ServerTLS{TLS: true, TLSCaFile: filepath.Join(dir, certs.CAFile), TLSCertFile: cert, TLSKeyFile: key}
	dial, err := serverDialer(good, "")
	require.NoError(t, err)
	require.NotNil(t, dial)
	dial, err = serverDialer(config.ServerTLS{}, "")
	require.NoError(t, err)
	require.Nil(t, dial, "plainly")

	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for setting, spoil := range map[string]func(c *config.ServerTLS, path string){
		"from-tls-ca-file":   func(c *config.ServerTLS, path string) { c.TLSCaFile = path },
		"from-tls-cert-file": func(c *config.ServerTLS, path string) { c.TLSCertFile = path },
		"from-tls-key-file":  func(c *config.ServerTLS, path string) { c.TLSKeyFile = path },
	} {
		wrong := good
		spoil(&wrong, filepath.Join(dir, "none"))
		_, err := serverDialer(wrong, "from-")
		require.ErrorContains(t, err, setting+": ")
		if setting == "from-tls-key-file" {
			continue // an empty key does not fit the certificate, and both are named
		}
		spoil(&wrong, empty)
		_, err = serverDialer(wrong, "from-")
		require.ErrorContains(t, err, setting+": ")
	}
}
