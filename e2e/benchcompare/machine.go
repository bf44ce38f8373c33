package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// limitProcs notes whether Quoll's processes are told how many cores to use. By themselves they use one each where there are few, after some seconds, as anybody's do (cmd/quoll/procs.go); what is guarded must not
// depend on when.
func (p *plan) limitProcs() {
	p.procs = os.Getenv("GOMAXPROCS")
	if p.procs == "" && p.guards && runtime.NumCPU() <= 4 {
		p.procs = "1"
	}
}

// environment is what Quoll's processes get beside the environment of this one.
func (p *plan) environment() []string {
	if p.procs == "" {
		return nil
	}
	return []string{"GOMAXPROCS=" + p.procs}
}

// machine describes the machine: processor, cores, memory, system.
func machine() string {
	return fmt.Sprintf("%s, %d cores, %s of memory, %s", processor(), runtime.NumCPU(), memory(), kernel())
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func memory() string {
	text, _ := os.ReadFile("/proc/meminfo")
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return "an unknown amount"
	}
	kib, _ := strconv.Atoi(fields[1])
	return fmt.Sprintf("%.1f GiB", float64(kib)/(1<<20))
}

// kernel is the system with the first two numbers of its version: the rest is a distributor's.
func kernel() string {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	numbers := strings.SplitN(strings.TrimSpace(string(text)), ".", 3)
	return strings.TrimSpace(runtime.GOOS + " " + strings.Join(numbers[:min(2, len(numbers))], "."))
}
