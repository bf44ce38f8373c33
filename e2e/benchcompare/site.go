package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// site is where one system runs: its processes, and a directory for what they write.
type site struct {
	*plan
	dir       string
	processes []*process
}

type process struct {
	name  string
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

func (p *plan) newSite() (*site, error) {
	dir, err := os.MkdirTemp("", "quoll-benchcompare-")
	return &site{plan: p, dir: dir}, err
}

// start runs a server. A group of its own keeps Ctrl-C from it: close stops it, in order.
func (s *site) start(name string, env []string, program string, args ...string) error {
	p := &process{name: name, log: filepath.Join(s.dir, name+".log"), ended: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = s.dir, append(os.Environ(), env...), log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := startOn(0, s.cores, p.cmd.Start); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	s.processes = append(s.processes, p)
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // how it ended matters only while it should run: await looks
	}()
	return nil
}

// stopPatience is how long a process may take to end in order.
const stopPatience = 10 * time.Second

// close stops all processes by their ids, the last one first, and removes what they wrote.
func (s *site) close() error {
	for i := len(s.processes) - 1; i >= 0; i-- {
		p := s.processes[i]
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-p.ended:
		case <-time.After(stopPatience):
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
	}
	return os.RemoveAll(s.dir)
}

// await polls until ready, and says what the processes logged if that does not come true.
func (s *site) await(ctx context.Context, what string, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for !ready() {
		for _, p := range s.processes {
			select {
			case <-p.ended:
				return fmt.Errorf("waiting for %s: %s has ended: %s", what, p.name, p.lastLine())
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

func (p *process) lastLine() string {
	text, _ := os.ReadFile(p.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// ports returns addresses of 127.0.0.1 that nobody listens on.
func ports(n int) ([]string, error) {
	var addresses []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // when all are found, so that they differ
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}

// portOf returns the port of an address.
func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// holders are the processes that hold data.
func (s *site) holders() []*process {
	return slices.DeleteFunc(slices.Clone(s.processes), func(p *process) bool { return p.name == proxyName })
}

// cpuOf returns the CPU time, user and system, that processes have taken so far. It asks the clock that Linux has for each process (clock_getcpuclockid(3)), which counts
// nanoseconds: /proc/PID/stat has hundredths of a second, cut off.
func cpuOf(processes []*process) (total time.Duration, err error) {
	const scheduled = 2 // CPUCLOCK_SCHED: user and system
	for _, p := range processes {
		var spent unix.Timespec
		if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|scheduled), &spent); err != nil {
			return 0, fmt.Errorf("CPU time of %s: %w", p.name, err)
		}
		total += time.Duration(spent.Nano())
	}
	return total, nil
}
