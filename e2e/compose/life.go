//go:build linux

package compose

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// stopTime is how long a process may take to end in order.
const stopTime = 60 * time.Second

// docker runs a docker command on the service's container.
func (s *Service) docker(args ...string) string {
	s.cluster.t.Helper()
	out, err := docker(append(args, s.container())...)
	s.cluster.must(err)
	return out
}

// Kill ends the process with SIGKILL. Docker does not restart it.
func (s *Service) Kill() { s.docker("kill") }

// Stop ends the process in order, with SIGTERM, and returns how long that took. The test fails if the
// process does not end, or not well.
func (s *Service) Stop() time.Duration {
	s.cluster.t.Helper()
	began := time.Now()
	s.docker("stop", "-t", fmt.Sprint(int(stopTime/time.Second)))
	code := s.docker("inspect", "-f", "{{.State.ExitCode}}")
	require.Equal(s.cluster.t, "0", code, "%s: exit code after SIGTERM", s.Name)
	return time.Since(began)
}

// Start starts the process again. Networks that were broken stay so; of Slow and ClockJump it knows nothing. It does not wait until the process is
// ready.
func (s *Service) Start() {
	s.docker("start")
	s.orders = orders{}
	s.traffic.apply(s)
}

// Restart is Stop and Start.
func (s *Service) Restart() {
	s.Stop()
	s.Start()
}

// Pause makes the process hang: all of it stands still.
func (s *Service) Pause() { s.docker("pause") }

// Unpause ends Pause.
func (s *Service) Unpause() { s.docker("unpause") }

// State is what Docker says of the container: "running", "paused", "exited", "restarting".
func (s *Service) State() string { return s.docker("inspect", "-f", "{{.State.Status}}") }

// Started is when the process began, as Docker writes it.
func (s *Service) Started() string { return s.docker("inspect", "-f", "{{.State.StartedAt}}") }

// Restarts counts how often Docker started the process again because it ended by itself.
func (s *Service) Restarts() int {
	n, err := strconv.Atoi(s.docker("inspect", "-f", "{{.RestartCount}}"))
	s.cluster.must(err)
	return n
}

// pid is the process's number on this machine, 0 if it does not run.
func (s *Service) pid() int {
	pid, err := strconv.Atoi(s.docker("inspect", "-f", "{{.State.Pid}}"))
	s.cluster.must(err)
	return pid
}

// KillAll kills services at the same moment, as far as Docker can.
func (c *Cluster) KillAll(services ...*Service) {
	c.t.Helper()
	args := []string{"kill"}
	for _, s := range services {
		args = append(args, s.container())
	}
	_, err := docker(args...)
	c.must(err)
}

// StartAll starts services, all at once.
func (c *Cluster) StartAll(services ...*Service) {
	var all sync.WaitGroup
	for _, s := range services {
		all.Go(s.Start)
	}
	all.Wait()
}

// patience is how long Await waits: long enough for a machine that is busy.
const patience = time.Minute

// Await polls until a condition holds. The test fails if it never does; why says what is missing.
func (c *Cluster) Await(what string, holds func() (ok bool, why string)) {
	c.t.Helper()
	ok, why := holds()
	for deadline := time.Now().Add(patience); !ok; ok, why = holds() {
		if time.Now().After(deadline) {
			require.FailNow(c.t, "waited in vain: "+what, why)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
