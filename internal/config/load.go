package config

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/quolldb/quoll/internal/suggest"
)

// Config is what all commands' settings have in common.
type Config interface {
	// Bind declares one flag per field. The field's value is the flag's default.
	Bind(fs *pflag.FlagSet)
	// Validate returns Faults with everything that is wrong, or nil.
	Validate() error
	// LogValue returns the settings in force, without secrets.
	slog.LogValuer

	secretFiles() []secretFile
	// complete fills the fields whose default depends on other fields.
	complete()
}

// Load completes cfg, whose flags are bound to fs and already parsed, from the
// environment (as os.Environ returns it) and, if fs has a flag --config, from the
// file that it names. It reads the secrets' files, fills what was left to quoll,
// and validates. The error is a Faults.
func Load(cfg Config, fs *pflag.FlagSet, environ []string) error {
	var faults Faults
	fs = settingsOf(cfg, fs)
	applyEnvironment(fs, environ, &faults)
	if file := fs.Lookup(fileFlag); file != nil && file.Value.String() != "" {
		applyFile(fs, file.Value.String(), &faults)
	}
	return finish(cfg, faults)
}

// finish is what Load does once all that is given is in cfg. faults are those that were found so far.
func finish(cfg Config, faults Faults) error {
	for _, s := range cfg.secretFiles() {
		s.read(&faults)
	}
	cfg.complete()
	var invalid Faults
	if errors.As(cfg.Validate(), &invalid) {
		for _, fault := range invalid {
			if !faults.has(fault.Field) {
				faults = append(faults, fault)
			}
		}
	}
	return faults.err()
}

// FlagFault makes pflag's error about a command line one that helps: about a value,
// Faults that say which ones are possible; about a flag that is not in fs, which one
// may have been meant. Other errors are returned as they are.
func FlagFault(fs *pflag.FlagSet, err error) error {
	var invalid *pflag.InvalidValueError
	var missing *pflag.NotExistError
	switch {
	case errors.As(err, &invalid):
		return Faults{{Field: invalid.GetFlag().Name, Reason: misfit(invalid)}}
	case errors.As(err, &missing) && missing.GetSpecifiedShortnames() == "":
		return fmt.Errorf("%w%s", err, suggest.DidYouMean(missing.GetSpecifiedName(), "--", flagNames(fs)))
	}
	return err
}

// seeHelp ends a sentence about an unknown name.
func seeHelp(name, before string, known []string) string {
	if meant := suggest.DidYouMean(name, before, known); meant != "" {
		return meant
	}
	return "; see --help for the settings"
}

// settings lists what can be set in the environment or a file.
func settings(fs *pflag.FlagSet) []string {
	return slices.DeleteFunc(flagNames(fs), func(name string) bool { return name == fileFlag || name == "help" })
}

// flagNames lists the flags of a set.
func flagNames(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}

// applyEnvironment sets the flags that the command line left alone from QUOLL_
// variables. An empty variable is one that is not set: that is how compose files
// and shells leave one out.
func applyEnvironment(fs *pflag.FlagSet, environ []string, faults *Faults) {
	from := map[string]string{}
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, EnvPrefix) || value == "" || injected(name, value) {
			continue
		}
		flag := byVariable(fs, name)
		switch {
		case flag == nil && !known(name):
			faults.add(name, "no such environment variable is known to quoll%s", seeHelp(name[len(EnvPrefix):], EnvPrefix, allVariables()))
		case flag == nil:
			// Another command's: containers of one cluster often share their environment.
		case from[flag.Name] != "":
			faults.add(name, "%s sets the same: give one of the two", from[flag.Name])
		case !flag.Changed:
			from[flag.Name] = name
			set(fs, flag, value, "in "+name, faults)
		}
	}
}

// serviceVariable matches what Kubernetes and Docker links put into the environment
// of every container when a service is called quoll or quoll-something.
var serviceVariable = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

func injected(name, value string) bool {
	return serviceVariable.MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
}

// lookup finds the flag of a setting. Help is a flag, but not a setting.
func lookup(fs *pflag.FlagSet, name string) *pflag.Flag {
	if name == "help" {
		return nil
	}
	return fs.Lookup(name)
}

// set gives a flag the value found at a place ("in QUOLL_NODES").
func set(fs *pflag.FlagSet, flag *pflag.Flag, value, place string, faults *Faults) {
	var invalid *pflag.InvalidValueError
	if errors.As(fs.Set(flag.Name, value), &invalid) {
		faults.add(flag.Name, "%s (%s)", misfit(invalid), place)
	}
}

// misfit says why the flag does not take the value.
func misfit(invalid *pflag.InvalidValueError) string {
	wanted := invalid.Unwrap().Error()
	switch invalid.GetFlag().Value.Type() {
	case "int":
		wanted = "not a whole number"
	case "bool", "boolfunc":
		wanted = "neither true nor false"
	case "duration":
		wanted = "not a duration such as 500ms, 1s or 2m"
	case "size":
		wanted = "not a size such as 65536, 64mb or 64MiB"
	case "level":
		wanted = "not debug, info, warn or error"
	}
	return fmt.Sprintf("%q is %s", invalid.GetValue(), wanted)
}
