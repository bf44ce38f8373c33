package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// readers are what reads a variable, as the documentation calls it, and the types of the flags that it sets.
func readers() (by map[string][]string, types map[string][]string) {
	by, types = map[string][]string{}, map[string][]string{}
	for _, kind := range []struct{ name, config string }{{"node", "node"}, {"proxy", "proxy"}, {"dev", "dev"}, {"ring, health, backup", "client"}, {"bench, verify", "servers"}} {
		declared(commands[kind.config]()).VisitAll(func(flag *pflag.Flag) {
			name := variableOf(flag)
			by[name] = append(by[name], kind.name)
			types[name] = append(types[name], flag.Value.Type())
		})
	}
	return by, types
}

// TestEveryVariableHasOneMeaning: where several commands read one, it is of one type, and nobody listens where others ask.
func TestEveryVariableHasOneMeaning(t *testing.T) {
	by, types := readers()
	for name, of := range types {
		require.Len(t, slices.Compact(of), 1, "%s is read by %v", name, by[name])
	}
	require.Equal(t, []string{"ring, health, backup"}, by["QUOLL_ADMIN"])
	require.Equal(t, []string{"node", "proxy", "dev"}, by["QUOLL_ADMIN_LISTEN"])
	require.Equal(t, []string{"proxy"}, by["QUOLL_NODES"])
	require.Equal(t, []string{"bench, verify"}, by["QUOLL_ADDR"])
	for _, name := range others {
		require.Empty(t, by[name], "%s is not quoll's", name)
	}
}

// TestTheTableOfVariablesIsTheCodes: docs/configuration.md says who reads which.
func TestTheTableOfVariablesIsTheCodes(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(QUOLL_[A-Z0-9_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, documented, row[1], "twice")
		documented[row[1]] = row[2]
	}
	by, _ := readers()
	for name, commands := range by {
		require.Equal(t, strings.Join(commands, ", "), documented[name], "%s in docs/configuration.md", name)
		delete(documented, name)
	}
	for _, name := range others {
		require.Contains(t, documented, name)
		delete(documented, name)
	}
	require.Empty(t, documented, "nobody reads these")
}

// TestVariablesAroundQuollDoNotDisturbIt: what the scripts and compose files read is known.
func TestVariablesAroundQuollDoNotDisturbIt(t *testing.T) {
	files, err := filepath.Glob("../../deploy/*")
	require.NoError(t, err)
	seen := 0
	for _, file := range append(files, "../../Makefile") {
		if info, err := os.Stat(file); err != nil || info.IsDir() || strings.HasSuffix(file, ".go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`QUOLL_[A-Z0-9_]+`).FindAllString(string(text), -1) {
			require.True(t, known(name), "%s in %s", name, file)
			seen++
		}
	}
	require.NotZero(t, seen)
}

func TestAVariableOfAnotherMeaningIsNotTaken(t *testing.T) {
	d := DefaultDev()
	require.NoError(t, Load(&d, flagsOf(&d), []string{"QUOLL_ADMIN=10.0.0.1:7100,10.0.0.2:7100", "QUOLL_NODES=10.0.0.1:7000", "QUOLL_ADDR=h:1", "QUOLL_DEV_NODES=5"}))
	require.Equal(t, "127.0.0.1:0", d.Admin)
	require.Equal(t, 5, d.Nodes)

	c := DefaultClient()
	require.NoError(t, Load(&c, flagsOf(&c), []string{"QUOLL_ADMIN=10.0.0.1:7100,10.0.0.2:7100", "QUOLL_ADMIN_LISTEN=:7100"}))
	require.Equal(t, []string{"10.0.0.1:7100", "10.0.0.2:7100"}, c.Admin)
}

// TestFlagsOfTheMomentAreNoSettings: what a command is to do this time does not come from the environment.
func TestFlagsOfTheMomentAreNoSettings(t *testing.T) {
	c := DefaultClient()
	fs := flagsOf(&c)
	force := fs.Bool("force", false, "")
	require.ErrorContains(t, Load(&c, fs, []string{"QUOLL_FORCE=true"}), "QUOLL_FORCE: no such environment variable")
	require.False(t, *force)
}
