package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// memory returns the resident memory of all processes that hold data, in bytes.
func (s *site) memory() (int64, error) {
	kib, err := sum(s.holders(), "status", "VmRSS:")
	return kib << 10, err
}

// written returns how many bytes all processes that hold data have had written to disks so far.
func (s *site) written() (int64, error) { return sum(s.holders(), "io", "write_bytes:") }

// diskSpace is what the files of a directory take.
func diskSpace(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return errIfThere(err)
		}
		info, err := entry.Info()
		if err != nil {
			return errIfThere(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			bytes += stat.Blocks * 512
		}
		return nil
	})
	return bytes, err
}

// errIfThere forgets that a file is gone: servers delete some all the time.
func errIfThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// writtenToDisks is how many bytes this machine's disks have written so far: what /proc says of a process counts whole folios of files for a few bytes.
func writtenToDisks() (bytes int64, err error) {
	text, err := os.ReadFile("/proc/diskstats")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 10 {
			continue
		}
		if _, err := os.Stat(filepath.Join("/sys/block", fields[2], "device")); err != nil { // a partition, or no device
			continue
		}
		sectors, err := strconv.ParseInt(fields[9], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/diskstats: %w", err)
		}
		bytes += sectors * 512
	}
	return bytes, nil
}

// sum adds up a line of a file that /proc has for each process.
func sum(processes []*process, file, line string) (total int64, err error) {
	for _, p := range processes {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, file))
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut("\n"+string(text), "\n"+line)
		var n int64
		if _, err := fmt.Sscan(rest, &n); err != nil {
			return 0, fmt.Errorf("%s of %s: %w", line, p.name, err)
		}
		total += n
	}
	return total, nil
}

// collectingShare reads from metrics pages how much of the CPU time of Go processes went into collecting garbage.
func collectingShare(ctx context.Context, pages []string) (float64, error) {
	var all, garbage float64
	for _, page := range pages {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return 0, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			name, text, _ := strings.Cut(lines.Text(), " ")
			value, err := strconv.ParseFloat(text, 64)
			switch {
			case err != nil: // a comment, or one with labels that have blanks
			case name == "process_cpu_seconds_total":
				all += value
			case name == "go_cpu_classes_gc_total_cpu_seconds_total":
				garbage += value
			}
		}
		if err := lines.Err(); err != nil {
			return 0, err
		}
	}
	return garbage / max(all, 0.01), nil
}
