package config

import (
	"log/slog"
	"strings"

	"github.com/spf13/pflag"
)

func bindSecret(fs *pflag.FlagSet, secret *Secret, file *string) {
	fs.Var(secretValue{secret}, "secret", "`text` shared by all nodes and proxies of the cluster; guards peer, gossip and admin ports (others on this machine can see it: better --secret-file)")
	fs.StringVar(file, "secret-file", *file, "`file` with the secret")
}

func bindAdminTokens(fs *pflag.FlagSet, file *string) {
	fs.StringVar(file, "admin-tokens-file", *file, "`file` with lines NAME read TOKEN or NAME operate TOKEN: who may use the admin API beside those who have the secret")
}

// bindPassword declares the password under both its names: redis.conf calls it
// requirepass.
func bindPassword(fs *pflag.FlagSet, password *Secret, file *string) {
	alias(fs, "requirepass", "password")
	fs.Var(secretValue{password}, "password", "`text` that clients must give with AUTH or HELLO, as user default; also --requirepass (others on this machine can see it: better --password-file)")
	fs.StringVar(file, "password-file", *file, "`file` with the password")
}

// alias gives a flag that is about to be declared another name, which works wherever its own does.
func alias(fs *pflag.FlagSet, other, flag string) {
	before := fs.GetNormalizeFunc()
	fs.SetNormalizeFunc(func(fs *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == other {
			name = flag
		}
		return before(fs, name)
	})
}

func bindLog(fs *pflag.FlagSet, level *slog.Level, format *string) {
	bindLogLevel(fs, level)
	fs.StringVar(format, "log-format", *format, "`format` of the log on standard error: text or json")
}

func bindLogLevel(fs *pflag.FlagSet, level *slog.Level) {
	fs.Var((*levelValue)(level), "log-level", "least `level` to log: debug, info, warn or error")
}

// levelValue is a slog.Level as a flag.
type levelValue slog.Level

func (v *levelValue) Set(text string) error { return (*slog.Level)(v).UnmarshalText([]byte(text)) }
func (v *levelValue) String() string        { return strings.ToLower(slog.Level(*v).String()) }
func (v *levelValue) Type() string          { return "level" }

func bindMemory(fs *pflag.FlagSet, memory *Size) {
	fs.Var(memory, "memory", "most memory that the process takes (default: three quarters of the machine's or container's)")
}
