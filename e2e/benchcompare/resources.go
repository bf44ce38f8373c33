package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// memory returns the resident memory of all processes that hold data, in bytes.
func (s *site) memory() (total int64, err error) {
	for _, p := range s.processes {
		if p.name == proxyName {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				if err != nil {
					return 0, err
				}
				total += kib << 10
			}
		}
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
