package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// EnvPrefix begins the name of every environment variable that quoll reads.
const EnvPrefix = "QUOLL_"

// others are variables with our prefix that programs around quoll read. quoll does not, and they do not disturb it.
var others = []string{
	// deploy/compose.sh, the compose files
	"QUOLL_PORT", "QUOLL_PORT2", "QUOLL_PROMETHEUS_PORT", "QUOLL_GRAFANA_PORT", "QUOLL_IMAGE", "QUOLL_PROJECT",
	// tests
	"QUOLL_ARTIFACTS", "QUOLL_SEED", "QUOLL_TLS",
}

// ownVariable is the annotation of a flag whose variable is not called like it.
const ownVariable = "variable"

// rename gives a flag's variable another name, because a flag of the same name means something else for another command: a
// variable is often set for all of them.
func rename(fs *pflag.FlagSet, flag, variable string) {
	f := fs.Lookup(flag)
	f.Usage += "; as a variable " + variable
	_ = fs.SetAnnotation(flag, ownVariable, []string{variable}) // it is there
}

// variableOf returns the name of a flag's variable.
func variableOf(flag *pflag.Flag) string {
	if own := flag.Annotations[ownVariable]; len(own) > 0 {
		return own[0]
	}
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

// byVariable returns the flag that a variable sets, by any of its names, or nil.
func byVariable(fs *pflag.FlagSet, variable string) (found *pflag.Flag) {
	fs.VisitAll(func(flag *pflag.Flag) {
		if variableOf(flag) == variable && flag.Name != "help" {
			found = flag
		}
	})
	if found != nil {
		return found
	}
	alias := lookup(fs, strings.ToLower(strings.ReplaceAll(variable[len(EnvPrefix):], "_", "-")))
	if alias == nil || alias.Annotations[ownVariable] != nil {
		return nil
	}
	return alias
}

// everyConfig returns a fresh configuration of each kind.
func everyConfig() []Config {
	node, proxy, dev, client, servers := DefaultNode(), DefaultProxy(), DefaultDev(), DefaultClient(), DefaultServers()
	return []Config{&node, &proxy, &dev, &client, &servers}
}

// known reports whether some command reads the variable, or something around quoll.
func known(variable string) bool {
	return slices.Contains(others, variable) || slices.ContainsFunc(everyConfig(), func(cfg Config) bool {
		return byVariable(declared(cfg), variable) != nil
	})
}

// allVariables lists what commands read, without the prefix.
func allVariables() (names []string) {
	for _, cfg := range everyConfig() {
		declared(cfg).VisitAll(func(flag *pflag.Flag) { names = append(names, variableOf(flag)[len(EnvPrefix):]) })
	}
	return names
}

// declared returns a flag set with the flags of a configuration.
func declared(cfg Config) *pflag.FlagSet {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	cfg.Bind(fs)
	return fs
}

// settingsOf returns the flags in fs that are settings of cfg. A command has others, which say what to do this time.
func settingsOf(cfg Config, fs *pflag.FlagSet) *pflag.FlagSet {
	own := declared(cfg)
	result := pflag.NewFlagSet("", pflag.ContinueOnError)
	result.SetNormalizeFunc(fs.GetNormalizeFunc())
	fs.VisitAll(func(flag *pflag.Flag) {
		if own.Lookup(flag.Name) != nil {
			result.AddFlag(flag)
		}
	})
	return result
}
