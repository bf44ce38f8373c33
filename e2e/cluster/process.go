//go:build unix

package cluster

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/artifact"
)

// Process is one quoll process, which can be restarted. Its methods are called by
// the test's goroutine.
type Process struct {
	// Name is for messages: "node a".
	Name string
	// Args and Env are what it is started with.
	Args, Env []string
	// Under is a command that becomes the process: quoll and Args are its last arguments.
	Under []string

	t     testing.TB
	quoll string // path of the binary
	log   string // path
	cmd   *exec.Cmd
	done  chan struct{} // closed when cmd has ended
}

// NewProcess returns a process that is not started. It is killed when the test ends;
// if that failed, the end of its log is shown.
func NewProcess(t testing.TB, name string, args ...string) *Process {
	lookAtSources(t)
	p := &Process{Name: name, Args: args, t: t, quoll: binary, log: newLog(t, name)}
	t.Cleanup(func() {
		end := p.end()
		p.Kill()
		text := p.Log()
		for _, bad := range []string{"panic: ", "fatal error: ", "WARNING: DATA RACE", "a bug in quoll"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: its log has %q", name, bad)
			}
		}
		if t.Failed() {
			t.Logf("log of %s (%s), quoll %s:\n%s", name, end, strings.Join(p.Args, " "), tail(text, 60))
		}
	})
	return p
}

// newLog makes a log among the test's artefacts, which no other process has.
func newLog(t testing.TB, name string) string {
	log, err := os.CreateTemp(artifact.Dir(t), strings.ReplaceAll(name, " ", "-")+"-*.log")
	require.NoError(t, err)
	require.NoError(t, log.Close())
	return log.Name()
}

// end says in words how the process ended, if it did.
func (p *Process) end() string {
	switch {
	case p.cmd == nil:
		return "never started"
	case p.Running():
		return "running"
	}
	return p.cmd.ProcessState.String()
}

// environment is all that processes get of this one's environment: QUOLL_ variables
// of whoever runs the tests must not matter.
func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
}

// Start starts the process, for the first time or again. The log goes on.
func (p *Process) Start() {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(p.t, err)
	defer log.Close()
	line := slices.Concat(p.Under, []string{p.quoll}, p.Args)
	cmd, done := exec.Command(line[0], line[1:]...), make(chan struct{})
	cmd.Env = append(environment(), p.Env...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, attributes()
	require.NoError(p.t, cmd.Start(), p.Name)
	p.cmd, p.done = cmd, done
	go func() {
		_ = cmd.Wait() // the exit code is in ProcessState
		close(done)
	}()
}

// Kill ends the process with SIGKILL and waits until it is gone.
func (p *Process) Kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// Terminate ends the process in order, with SIGTERM. The test fails if it does not end
// well, or not soon.
func (p *Process) Terminate() {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	p.endedWell()
}

func (p *Process) endedWell() {
	p.t.Helper()
	require.Equal(p.t, 0, p.ExitCode(patience), "%s: exit code after SIGTERM", p.Name)
}

// Stop makes the process hang: SIGSTOP. It must run, and not hang already.
func (p *Process) Stop() {
	p.Signal(syscall.SIGSTOP)
	awaitStopped(p.PID())
}

// Continue ends Stop: SIGCONT.
func (p *Process) Continue() { p.Signal(syscall.SIGCONT) }

// Signal sends a signal to the process, unless it was never started or has ended.
func (p *Process) Signal(signal syscall.Signal) {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(signal)
	}
}

// PID is the number of the running process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Running reports whether the process was started and has not ended.
func (p *Process) Running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// ExitCode waits until the process has ended and returns its exit code. The test
// fails if that takes longer than within.
func (p *Process) ExitCode(within time.Duration) int {
	select {
	case <-p.done:
	case <-time.After(within):
		require.FailNow(p.t, p.Name+" did not end within "+within.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// Log returns what the process has written to standard output and error in all its
// lives.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Error(err)
	}
	return string(text)
}

// AwaitLog waits until the log contains a text.
func (p *Process) AwaitLog(text string) {
	Await(p.t, p.Name+" logs "+text, func() bool { return strings.Contains(p.Log(), text) })
}

func tail(text string, lines int) string {
	all := strings.SplitAfter(text, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// patience is how long Await waits: long enough for a machine that is busy.
const patience = 20 * time.Second

// Await polls until a condition holds. The test fails if it never does.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.FailNow(t, "waited in vain: "+what)
		}
	}
}
