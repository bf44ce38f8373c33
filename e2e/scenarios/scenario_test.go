//go:build linux

package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/compose"
)

// scenario is a healthy cluster under load, of which is known how fast it is.
type scenario struct {
	*compose.Cluster
	t    *testing.T
	load *load
	p99  time.Duration // of the healthy cluster
}

const (
	// warmUp is how long the load runs before it is measured, and baseline for how long it is.
	warmUp, baseline = 2 * time.Second, 4 * time.Second
	// reaction is how long a dead or hung node may go unnoticed. What is sent to it in this time cannot be
	// taken back, so its outcome may be unknown.
	reaction = 500 * time.Millisecond
	// calm is how soon after a fault began, or the cluster is healthy again, latencies are normal.
	calm = 2 * time.Second
	// watched is for how long they are looked at then.
	watched = 4 * time.Second
)

// begin starts a cluster and the load and measures them.
func begin(t *testing.T, cfg compose.Config) *scenario {
	t.Helper()
	needsDocker(t)
	c := compose.Up(t, cfg)
	s := &scenario{Cluster: c, t: t, load: startLoad(t, c)}
	t.Cleanup(s.draw)
	time.Sleep(warmUp + baseline)
	now := time.Now()
	s.p99 = s.load.timeline.Percentile(now.Add(-baseline), now, 0.99)
	s.load.note("healthy: p99 %v", s.p99)
	require.Empty(t, s.load.failed(), "errors before anything was broken")
	require.NotZero(t, s.p99, "nothing was answered")
	return s
}

// draw keeps the picture.
func (s *scenario) draw() {
	s.load.stop()
	path := filepath.Join(s.Artefacts, "timeline.svg")
	file, err := os.Create(path)
	if err == nil {
		defer file.Close()
		err = s.load.timeline.Write(file)
	}
	if err != nil {
		s.t.Errorf("the timeline is not kept: %v", err)
		return
	}
	s.t.Logf("timeline: %s", path)
}

// fault is something that was done to the cluster.
type fault struct {
	scenario  *scenario
	label     string
	from, set time.Time // doing it takes a moment: Docker is slow
	done      time.Time // when nothing changes any more: a node that is mended has to come back first
	over      func()
}

// strike breaks something.
func (s *scenario) strike(label string, do func()) *fault {
	s.t.Helper()
	s.load.note("%s", label)
	f := &fault{scenario: s, label: label, over: s.load.timeline.Mark(label), from: time.Now()}
	do()
	f.set = time.Now()
	f.done = f.set
	return f
}

// mend undoes the fault, and waits until the cluster says that it is healthy.
func (f *fault) mend(do func()) *fault {
	s := f.scenario
	s.t.Helper()
	s.load.note("mending: %s", f.label)
	mended := s.strike("mended: "+f.label, do)
	f.over()
	s.AwaitHealthy()
	mended.done = time.Now()
	mended.over()
	s.t.Logf("%s: healthy again %v after it was mended", f.label, time.Since(mended.from).Round(10*time.Millisecond))
	return mended
}

// judgesTimes reports whether a test may fail because of how long something took. The short list runs on machines
// that do other work, too: there it is only logged.
func judgesTimes() bool { return !testing.Short() }

// requireCalm looks for a while at how fast the cluster is from calm after the fault on. Other work on the
// machine that began meanwhile may be what makes it slow, but that passes: it looks three times at the most.
func (f *fault) requireCalm() {
	s := f.scenario
	s.t.Helper()
	from := f.done.Add(calm)
	p99 := f.look(from)
	for range 2 {
		if !judgesTimes() || p99 > 0 && p99 <= s.normal() {
			break
		}
		from = from.Add(watched)
		p99 = f.look(from)
	}
	require.NotZero(s.t, p99, "%s: nothing was answered", f.label)
	if judgesTimes() {
		require.LessOrEqual(s.t, p99, s.normal(), "%s: p99 is not normal %v later", f.label, from.Sub(f.done))
	}
}

// look returns the p99 of what is watched from a moment on.
func (f *fault) look(from time.Time) time.Duration {
	s := f.scenario
	s.t.Helper()
	end := from.Add(watched)
	time.Sleep(time.Until(end))
	p99 := s.load.timeline.Percentile(from, end, 0.99)
	s.t.Logf("%s: %v after it p99 is %v, %v when healthy; p50 %v", f.label, from.Sub(f.done), p99, s.p99, s.load.timeline.Percentile(from, end, 0.5))
	return p99
}

// normal is the largest p99 that is taken for that of the healthy cluster: a busy machine makes one of its own.
func (s *scenario) normal() time.Duration { return 3*s.p99 + 50*time.Millisecond }

// requireOnlyInFlight checks which errors clients got since the fault began: no more than there were
// clients, each for a command that was begun before the fault was noticed (reaction after it took effect). Who begins one later
// notices nothing.
func (f *fault) requireOnlyInFlight() {
	s := f.scenario
	s.t.Helper()
	n := 0
	for _, e := range s.load.failed() {
		if e.ended.Before(f.from) {
			continue
		}
		n++
		s.t.Logf("%s: error at %s, begun %v after the fault took effect, took %v: %s: %.120s",
			f.label, e.proxy, e.began.Sub(f.set).Round(time.Millisecond), e.ended.Sub(e.began).Round(time.Millisecond), e.command, e.err)
		if judgesTimes() {
			require.True(s.t, e.began.Before(f.set.Add(reaction)), "%s: a command that began after the fault was noticed failed: %s: %v", f.label, e.command, e.err)
		}
	}
	s.t.Logf("%s: %d errors; at most %d commands were under way", f.label, n, len(s.load.clients))
	require.LessOrEqual(s.t, n, len(s.load.clients), f.label)
}

// requireNoErrors checks that no client of a proxy, or of any if none is named, got one since the fault began.
func (f *fault) requireNoErrors(proxies ...string) {
	s := f.scenario
	s.t.Helper()
	for _, e := range s.load.failed() {
		for _, p := range proxies {
			require.NotEqual(s.t, p, e.proxy, "%s: %v after it took effect: %s: %v", f.label, e.began.Sub(f.set), e.command, e.err)
		}
		if len(proxies) == 0 {
			require.NoError(s.t, e.err, "%s: at %s %v after it took effect, for %v: %s; by word: %v", f.label, e.proxy, e.began.Sub(f.set), e.ended.Sub(e.began), e.command, s.load.errorsByWord())
		}
	}
}

// requireNoErrorsSince checks that no command failed that began after the fault was over and calm was back.
func (f *fault) requireNoErrorsSince() {
	f.scenario.t.Helper()
	for _, e := range f.scenario.load.failed() {
		require.False(f.scenario.t, e.began.After(f.done.Add(calm)), "%s: %v later at %s: %s: %v", f.label, e.began.Sub(f.set), e.proxy, e.command, e.err)
	}
}

// end stops the load and checks that every acknowledged write is there, as every proxy sees it, and that all
// histories are linearizable. All must be well with the cluster.
func (s *scenario) end() {
	s.t.Helper()
	s.AwaitHealthy()
	s.load.stop()
	for _, p := range s.Proxies {
		through := connect(p)
		defer through.Close()
		for _, c := range s.load.clients {
			require.NoError(s.t, c.verify(through), "through %s", p.Name)
		}
	}
	result, err := s.load.history.verdict()
	require.NoError(s.t, err)
	counted := int64(0)
	for _, c := range s.load.clients {
		counted += c.counted
	}
	s.t.Logf("%d commands answered; errors %s; every acknowledged write and %d acknowledged increments are there; %s",
		s.load.done.Load(), fmt.Sprint(s.load.errorsByWord()), counted, result)
}
