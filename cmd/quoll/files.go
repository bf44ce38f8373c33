package main

import (
	"fmt"
	"log/slog"
	"syscall"
)

// How many files of those that a process may open are kept from connections that a setting bounds: for links to nodes, the admin API, the
// program's own, and a store's files.
const (
	keptFiles      = 128
	keptStoreFiles = 512
)

// openFiles returns how many files this process may open. The Go runtime has raised the soft limit to the hard one.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 1 << 30
	}
	return int(limit.Cur)
}

// fitFiles returns how many of the connections that a setting allows there can be, so that kept files are left. It says so if they
// are fewer. At least half of the limit is theirs.
func fitFiles(setting string, asked, kept, limit int, log *slog.Logger) int {
	fit := max(limit-kept, limit/2)
	if asked <= fit {
		return asked
	}
	log.Warn(fmt.Sprintf("--%s is %d, but this process may open %d files only, and keeps some for links to nodes, its admin port and its own: it takes %d. "+
		"Raise the limit (ulimit -n, or LimitNOFILE= in systemd), or lower --%s", setting, asked, limit, fit, setting))
	return fit
}
