package config

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// The parts of a process' memory. What is left, a quarter at least, is for what is on its way, for garbage, and for the process itself.
const (
	unknownMemory = 4 * GiB   // the bound where the system does not tell what there is
	leastMemory   = 256 * MiB // the lowest bound of a node
	mostMemory    = 64 * TiB
	mostPending   = 256 * MiB // the most for requests that are not answered, unless it is set
)

// defaultMemory returns the bound of a process: three quarters of what it may use, for the system needs some for its files and there may be
// other processes, and what it cannot do without at least.
func defaultMemory(root fs.FS, least Size) Size {
	memory := machineMemory(root) / 4 * 3 / MiB * MiB
	if memory == 0 {
		memory = unknownMemory
	}
	return min(mostMemory, max(least, memory))
}

// defaultCache returns the cache of one of the nodes of a process: together they take a sixth of its memory.
func defaultCache(memory Size, nodes int) Size {
	return max(leastCache, min(mostCache, memory/6/Size(max(nodes, 1))/MiB*MiB))
}

// defaultPending returns how much one of the nodes of a process has for requests: together they take an eighth of its memory at most.
func defaultPending(memory Size, nodes int) Size {
	return max(MiB, min(mostPending, memory/8/Size(max(nodes, 1))/MiB*MiB))
}

// defaultClientMemory returns a sixth of the memory, and at least what a proxy with that largest argument needs.
func defaultClientMemory(memory, maxBulk Size) Size {
	return max(leastClientMemory(maxBulk), memory/6/MiB*MiB)
}

// leastClientMemory is what one client needs who sends the largest argument, whose buffer grows by doubling, and some others.
func leastClientMemory(maxBulk Size) Size { return 2*maxBulk + 16*MiB }

// leastProxyMemory is the lowest bound of a proxy: half of it is for clients.
func leastProxyMemory(maxBulk Size) Size { return 2 * leastClientMemory(maxBulk) }

// dataMemory is what a node in memory has for its data, of what a process has: a quarter remains, and what else is set aside.
func dataMemory(memory, aside Size, nodes int) Size {
	return max(leastData, (memory-memory/4-aside)/Size(max(nodes, 1))/MiB*MiB)
}

// leastData is what a node has for its data in any case.
const leastData = 16 * MiB

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
