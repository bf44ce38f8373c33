package config

import (
	"time"

	"github.com/spf13/pflag"
)

func bindLuaTimeLimit(fs *pflag.FlagSet, limit *time.Duration) {
	fs.DurationVar(limit, "lua-time-limit", *limit, "longest time for a script, or a function; it is ended then, and nothing of it is done (default: 5s, or --slow-timeout if that is shorter)")
}

// luaTimeLimit is the default. After five seconds Redis answers others BUSY, where Quoll ends the script.
func luaTimeLimit(slow time.Duration) time.Duration { return min(5*time.Second, slow) }

// luaTimeLimit checks how long scripts may run: a proxy has given up one that runs for longer than the slow time-out.
func (f *Faults) luaTimeLimit(limit, slow time.Duration) {
	f.timeout("lua-time-limit", limit)
	if limit > slow && !f.has("lua-time-limit") && !f.has("slow-timeout") {
		f.add("lua-time-limit", "%s is longer than the slow-timeout of %s", limit, slow)
	}
}
