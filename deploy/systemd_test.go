package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/config"
)

var units = []string{"quoll-node.service", "quoll-proxy.service"}

func readUnit(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join("systemd", name))
	require.NoError(t, err)
	return string(text)
}

// TestTheCommandsOfServicesAreCommands parses the flags that the services are started with.
func TestTheCommandsOfServicesAreCommands(t *testing.T) {
	node, proxy := config.DefaultNode(), config.DefaultProxy()
	for i, cfg := range []config.Config{&node, &proxy} {
		words := strings.Fields(regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(readUnit(t, units[i]))[1])
		require.Equal(t, []string{"/usr/local/bin/quoll", []string{"node", "proxy"}[i]}, words[:2])
		fs := pflag.NewFlagSet(units[i], pflag.ContinueOnError)
		cfg.Bind(fs)
		require.NoError(t, fs.Parse(words[2:]))
		require.Empty(t, fs.Args())
	}
	require.Equal(t, "/var/lib/quoll", node.Data)
}

// TestServicesAreConfinedAlike compares what follows LimitNOFILE, but for the directory of a node's data.
func TestServicesAreConfinedAlike(t *testing.T) {
	_, node, _ := strings.Cut(readUnit(t, units[0]), "LimitNOFILE")
	_, proxy, _ := strings.Cut(readUnit(t, units[1]), "LimitNOFILE")
	require.Equal(t, proxy, regexp.MustCompile(`(?m)^StateDirectory.*\n`).ReplaceAllString(node, ""))
}

// TestServicesAreWhatSystemdTakes has systemd look at them, where it is.
func TestServicesAreWhatSystemdTakes(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	quoll, err := os.Executable() // any program will do
	require.NoError(t, err)
	for _, name := range units {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(readUnit(t, name), "/usr/local/bin/quoll", quoll)), 0o600))
		out, err := exec.Command(analyze, "verify", path).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		require.NotContains(t, string(out), name)
		out, err = exec.Command(analyze, "security", "--offline=yes", "--no-pager", path).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		exposure := regexp.MustCompile(`exposure level for \S+: ([0-9.]+)`).FindSubmatch(out)
		require.NotNil(t, exposure, "%s", out)
		level, err := strconv.ParseFloat(string(exposure[1]), 64)
		require.NoError(t, err)
		require.LessOrEqual(t, level, 2.0, "of 10; %s", name)
	}
}
