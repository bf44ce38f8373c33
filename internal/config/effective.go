package config

import (
	"log/slog"

	"github.com/spf13/pflag"
)

// effective returns the settings in force as a group, secrets as "(set)". It goes
// through the flags, so that no field can be forgotten.
func effective(cfg Config) slog.Value {
	var attrs []slog.Attr
	declared(cfg).VisitAll(func(flag *pflag.Flag) {
		if flag.Name != fileFlag {
			attrs = append(attrs, slog.String(flag.Name, flag.Value.String()))
		}
	})
	return slog.GroupValue(attrs...)
}
