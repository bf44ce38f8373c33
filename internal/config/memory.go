package config

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// AvailableMemory returns how much memory this process may use: that of the machine, or of its container if
// that is less; 0 if the system does not tell.
func AvailableMemory() Size { return machineMemory(os.DirFS("/")) }

// defaultCache returns the cache of one of the nodes of this process: together they take an
// eighth of the memory.
func defaultCache(root fs.FS, nodes int) Size {
	share := machineMemory(root) / 8 / Size(max(nodes, 1)) / MiB * MiB
	return max(leastCache, min(mostCache, share))
}

// machineMemory returns how much memory this process may use: that of the machine, or less if a
// control group (a container, a systemd unit) limits it. 0 means that the system does not tell.
// root is the root of the file system.
func machineMemory(root fs.FS) Size {
	least := Size(math.MaxInt64)
	if total := memTotal(root); total > 0 {
		least = total
	}
	for _, file := range limitFiles(root) {
		if limit, ok := readLimit(root, file); ok {
			least = min(least, limit)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// memTotal returns the machine's memory as Linux tells it.
func memTotal(root fs.FS) Size {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "MemTotal:" && fields[2] == "kB" {
			n, _ := strconv.ParseInt(fields[1], 10, 53)
			return Size(n) * KiB
		}
	}
	return 0
}

// limitFiles returns the files that may have a limit: those of the process' control group and
// of all groups above it, of both versions. In a container the group's path is often that
// outside of it; then only the root's file exists.
func limitFiles(root fs.FS) []string {
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	var files []string
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		var top, file string
		switch {
		case fields[1] == "": // version 2
			top, file = "sys/fs/cgroup", "memory.max"
		case strings.Contains(","+fields[1]+",", ",memory,"):
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			files = append(files, path.Join(top, group, file))
			if group == "/" {
				break
			}
		}
	}
	return files
}

// readLimit reads one limit. Version 2 says "max" for none, version 1 a very large number.
func readLimit(root fs.FS, file string) (Size, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return Size(n), err == nil && n > 0
}
