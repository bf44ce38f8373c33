package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// movable is a cluster whose ring is a document that it changes by itself. Its node is n1.
type movable struct {
	cluster
	mu       sync.Mutex
	document change.Document
	self     string
	dead     map[string]bool
	err      error
	// looked, if not nil, is called before somebody sees the ring.
	looked  func()
	looking sync.Mutex
}

func (m *movable) RingView(context.Context) (admin.RingView, error) {
	m.looking.Lock()
	if m.looked != nil {
		m.looked()
	}
	m.looking.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.document
	return admin.RingView{Document: d, Self: m.self, SlotBytes: func(uint16) int64 { return 64 << 10 }, Alive: func(id uint16) bool {
		l, _ := d.Member(id)
		return !m.dead[l.Name]
	}}, m.err
}

func (m *movable) ProposeRing(_ context.Context, entry change.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, err := change.Apply(m.document, entry, 1_900_000_000_000)
	if err != nil {
		return admin.Conflict(err.Error())
	}
	m.document = d
	return nil
}

// RecoverRing lets the ring be changed by those that are alive, if they are no majority.
func (m *movable) RecoverRing(_ context.Context, r admin.RecoverRequest) (admin.RingRecovery, error) {
	report := admin.RingRecovery{Cluster: "quoll", Node: m.self, Version: m.document.Version, SlotsMinority: 16384, Keys: 1000}
	for _, l := range m.document.Members {
		report.Deciders = append(report.Deciders, admin.RingDecider{Name: l.Name, Alive: !m.dead[l.Name]})
		if m.dead[l.Name] {
			report.Gone = append(report.Gone, l.Name)
		}
	}
	switch {
	case len(report.Gone) == 0:
		return report, admin.Conflict("there is nothing to be recovered")
	case r.AcceptLoss == "" || r.DryRun:
		return report, nil
	}
	d, err := change.Refound(m.document, 0, r.By, 1_900_000_000_000, report.Gone)
	m.document, report.Version, report.Done = d, d.Version, true
	return report, err
}

// onLook has something done before somebody sees the ring.
func (m *movable) onLook(do func()) {
	m.looking.Lock()
	defer m.looking.Unlock()
	m.looked = do
}

// move moves up to so many slots of the plan, and reports whether there is still a plan.
func (m *movable) move(t *testing.T, slots int) bool {
	m.mu.Lock()
	plan, wave := m.document.Plan, change.NextWave(m.document, change.Limits{Joint: slots, Alive: change.Alive})
	m.mu.Unlock()
	if plan == nil {
		return false
	}
	require.NoError(t, m.ProposeRing(t.Context(), change.Entry{Begin: &change.Begin{Plan: plan.ID, Slots: wave}}))
	for len(m.document.Joint) > 0 {
		c := &change.Complete{Member: m.document.Joint[0].Waiting[0]}
		for _, p := range m.document.Joint {
			c.Slots = append(c.Slots, change.SlotEpoch{Slot: p.Slot, Epoch: m.document.Slots[p.Slot].Epoch})
		}
		require.NoError(t, m.ProposeRing(t.Context(), change.Entry{Complete: c}))
	}
	return m.document.Plan != nil
}

// ringOf is a ring of n1, n2 ..., each in a rack of its own, and of others that wait to join.
func ringOf(t *testing.T, members, waiting int) *movable {
	c := ring.Cluster{Name: "quoll", Epoch: 1, Replicas: 3}
	member := func(n int) ring.Member {
		return ring.Member{ID: uint16(n), Name: fmt.Sprintf("n%d", n), Peer: fmt.Sprintf("10.0.0.%d:7000", n), Rack: fmt.Sprintf("r%d", n), Weight: 1, Generation: uint64(n)}
	}
	for i := range members {
		c.Members = append(c.Members, member(i+1))
	}
	d, err := change.FromCluster(c)
	require.NoError(t, err)
	m := &movable{document: d, self: "n1", dead: map[string]bool{}}
	for i := range waiting {
		w := member(members + i + 1)
		require.NoError(t, m.ProposeRing(t.Context(), change.Entry{By: w.Name, Join: &change.Join{Member: w}}))
	}
	return m
}

// operator runs command lines on the cluster.
type operator struct {
	*shell
	t       *testing.T
	address string
}

func (m *movable) operator(t *testing.T) operator {
	o := operator{newShell(), t, m.serveAs(t)}
	o.environ = []string{"QUOLL_ADMIN=" + o.address, "USER=ops"}
	return o
}

func (m *movable) serveAs(t *testing.T) string { return serveBackend(t, m, "") }

// does runs a command that goes well, and returns what it prints.
func (o operator) does(line string) string {
	code, stdout, stderr := o.run(strings.Fields(line)...)
	require.Equal(o.t, exitOK, code, "%s: %s", line, stderr)
	return stdout
}

// fails runs a command that does not, and returns what it says about that.
func (o operator) fails(code int, line string) string {
	got, stdout, stderr := o.run(strings.Fields(line)...)
	require.Equal(o.t, code, got, "%s: %s", line, stdout)
	return strings.TrimSpace(stderr)
}

func TestRingPlanShowsWhatChangesMean(t *testing.T) {
	m := ringOf(t, 3, 2)
	o := m.operator(t)
	require.Equal(t, `n4 waits to join: quoll ring plan join n4
n5 waits to join: quoll ring plan join n5
No change is staged.
`, o.does("ring plan"))
	require.Equal(t, `n5 waits to join: quoll ring plan join n5
Staged:
  replace n2 n4

FROM  TO  SLOTS  DATA
n2    n4  16384  1.0GiB

NODE  SLOTS      HOME      DATA         SHARE AFTER  RECEIVES  SENDS
n1    16384      5442      1.0GiB       33.3%        0B        0B
n2    16384 > 0  5400 > 0  1.0GiB > 0B  0.0%         0B        1.0GiB
n3    16384      5542      1.0GiB       33.3%        0B        0B
n4    0 > 16384  0 > 5400  0B > 1.0GiB  33.3%        1.0GiB    0B

16384 slots change, 5400 of them their home; 16384 copies of slots are made, about 1.0GiB, 21s at 50.0MiB/s for each node.
Before, every slot survives the loss of 1 node, or of 1 rack; after, of 1 node, or of 1 rack.

Commit it: quoll ring commit `+planID(m)+"\n", o.does("ring plan replace n2 n4"))

	var plan admin.RingPlan
	require.NoError(t, json.Unmarshal([]byte(o.does("ring plan -o json")), &plan))
	require.Equal(t, []string{"replace n2 n4"}, plan.Changes)

	require.Contains(t, o.does("ring plan --dry-run replicas 5 join n5"), "Nothing was done. It would be:\n\nStaged:\n  replace n2 n4\n  replicas 5\n  join n5\n")
	require.Contains(t, o.does("ring plan replicas 5"), "This can't be committed: ")
	require.Len(t, m.document.Staged, 2)
	require.Contains(t, o.does("ring plan clear n4"), "Staged:\n  replicas 5\n")
	require.Contains(t, o.does("ring plan clear"), "No change is staged.\n")
	require.Equal(t, `quoll: http://`+o.address+` answered: n9: no such member: look at the names in the ring's status`, strings.Replace(o.fails(exitFailure, "ring plan leave n9"), `leave n9: "n9"`, "n9", 1))
	require.Equal(t, "quoll: \"jion\" is no change of the ring: join, leave, replace, weight, rack or replicas; did you mean join?\nSee 'quoll ring plan --help'.", o.fails(exitUsage, "ring plan jion n4"))
	require.Equal(t, "quoll: weight n3: a weight is missing\nSee 'quoll ring plan --help'.", o.fails(exitUsage, "ring plan weight n3"))
	require.Contains(t, o.fails(exitUsage, "ring plan clear a b"), "give one name after clear, or none")
}

// planID is what the staged changes are committed by.
func planID(m *movable) string {
	d := m.document
	if len(d.Staged) == 0 {
		d, _ = change.Apply(d, change.Entry{By: "ops", Stage: &change.Staged{Kind: change.ReplaceMember, Name: "n2", By: "n4"}}, 0)
	}
	c, err := change.Propose(d)
	if err != nil {
		return err.Error()
	}
	return c.ID
}

func TestRingCommitAbortAndHistory(t *testing.T) {
	m := ringOf(t, 3, 1)
	o := m.operator(t)
	require.Equal(t, "quoll: http://"+o.address+" answered: no change is staged: stage one first", o.fails(exitFailure, "ring commit"))
	require.Contains(t, o.fails(exitFailure, "ring abort"), "no plan is under way")
	o.does("ring plan replace n2 n4")
	require.Contains(t, o.fails(exitFailure, "ring abort"), "no plan is under way; what is staged is dropped by quoll ring plan clear")
	id := planID(m)
	require.Contains(t, o.fails(exitFailure, "ring commit 1234"), "1234: that is another plan")
	require.Equal(t, "Nothing was done. It would be: Plan "+id+" is committed: 16384 slots change, about 1.0GiB are copied. See quoll ring watch.\n", o.does("ring commit --dry-run"))
	require.Nil(t, m.document.Plan)
	require.Equal(t, "Plan "+id+" is committed: 16384 slots change, about 1.0GiB are copied. See quoll ring watch.\n", o.does("ring commit "+id))
	require.Equal(t, "No change is staged.\nPlan "+id+" is under way: see quoll ring watch.\n", o.does("ring plan"))
	m.move(t, 100)
	require.Equal(t, "Nothing was done. It would be: Plan "+id+" is being undone: 100 slots go back. See quoll ring watch.\n", o.does("ring abort --dry-run"))
	require.Equal(t, "Plan "+id+" is being undone: 100 slots go back. See quoll ring watch.\n", o.does("ring abort"))
	require.Equal(t, "Plan "+id+" goes on: 16384 slots change, about 1.0GiB are copied. See quoll ring watch.\n", o.does("ring abort --undo "+id))
	require.Equal(t, `VERSION  AT                    BY   WHAT
2        2030-03-17T17:46:40Z  n4   n4 asks to join
3        2030-03-17T17:46:40Z  ops  stages replace n2 n4
4        2030-03-17T17:46:40Z  ops  commits plan `+id+`: replace n2 n4
7        2030-03-17T17:46:40Z  ops  aborts plan `+id+`
8        2030-03-17T17:46:40Z  ops  goes on with plan `+id+`
`, o.does("ring history"))
	var events []admin.RingEvent
	require.NoError(t, json.Unmarshal([]byte(o.does("ring history --json")), &events))
	require.Len(t, events, 5)
}

func TestRingPauseRateAndForget(t *testing.T) {
	m := ringOf(t, 3, 1)
	o := m.operator(t)
	require.Equal(t, "The ring is paused: what is on its way arrives, nothing else begins. quoll ring resume ends that.\n", o.does("ring pause"))
	require.True(t, m.document.Paused)
	require.Contains(t, o.fails(exitFailure, "ring pause"), "it is so already")
	require.Equal(t, "The ring goes on.\n", o.does("ring resume"))
	require.Equal(t, "Each node copies up to 50.0MiB/s.\n", o.does("ring rate"))
	require.Equal(t, "Each node copies up to 20.0MiB/s.\n", o.does("ring rate 20MiB"))
	require.Equal(t, int64(20<<20), m.document.Rate)
	require.Equal(t, "Each node copies up to 50.0MiB/s.\n", o.does("ring rate default"))
	require.Equal(t, "quoll: rate: \"fast\" is not a number of bytes such as 20MiB, at least 64KiB", o.fails(exitUsage, "ring rate fast"))
	require.Equal(t, "Nothing was done. It would be: n4 does not wait to join any more.\n", o.does("ring forget n4 --dry-run"))
	require.Equal(t, "n4 does not wait to join any more.\n", o.does("ring forget n4"))
	require.Contains(t, o.fails(exitFailure, "ring forget n3"), "it does not wait to join")
	require.Contains(t, o.fails(exitUsage, "ring forget"), "give the name of one NODE")
	var status admin.RingStatus
	require.NoError(t, json.Unmarshal([]byte(o.does("ring pause --dry-run --json")), &status))
	require.True(t, status.Paused && status.DryRun)
	m.err = errors.New("there is no ring yet")
	require.Contains(t, o.fails(exitFailure, "ring watch"), "there is no ring yet")
}

func TestRingCommitLosesDataOnlyIfToldTo(t *testing.T) {
	m := ringOf(t, 3, 2)
	m.dead["n2"], m.dead["n3"] = true, true
	o := m.operator(t)
	plan := o.does("ring plan replace n2 n4 replace n3 n5")
	require.Contains(t, plan, "Careful: too few replicas are alive: n1 is the only live holder of 16384 slots: they stay where they are until enough of n2, n3 are back; if they are gone for good, plan their replacement and accept the loss of data\n")
	require.Contains(t, plan, "--accept-data-loss CLUSTER\n")
	require.Contains(t, o.fails(exitFailure, "ring commit"), "n1 is the only live holder of 16384 slots")
	require.Contains(t, o.fails(exitFailure, "ring commit --accept-data-loss other"), `this cluster is not "other": nothing was done`)
	require.Nil(t, m.document.Plan)
	o.does("ring commit --accept-data-loss quoll")
	require.True(t, m.document.Plan.LossAccepted)
}

func TestRingRecoverSaysWhatIsLost(t *testing.T) {
	m := ringOf(t, 3, 0)
	o := m.operator(t)
	require.Contains(t, o.fails(exitFailure, "ring recover"), "there is nothing to be recovered")
	m.dead["n2"], m.dead["n3"] = true, true
	lost := `Of those who decide on the ring n2, n3 are gone, and n1 is left.
Members that do not answer: n2, n3. Lost is what only they know:
  - changes of the ring after version 1
  - what was written last to 16384 slots of which too few replicas are left to tell
  - all that is in 0 slots of which no replica is left
These slots have about 1000 keys.
Nothing was done. If they are gone for good: quoll ring recover --accept-data-loss CLUSTER
`
	require.Equal(t, lost, o.does("ring recover"))
	require.Equal(t, lost, o.does("ring recover --accept-data-loss quoll --dry-run"))
	require.EqualValues(t, 1, m.document.Version)
	require.Contains(t, o.does("ring recover --accept-data-loss quoll"), `
Node n1 decides now, with the others that answer; the ring goes on with version 4294967296.
Next replace those that are gone: quoll ring plan replace NODE BY, then quoll ring commit --accept-data-loss quoll
`)
	require.Contains(t, o.does("ring history"), "ops")
	require.Contains(t, o.does("ring recover --json"), `"slots_minority": 16384`)
}

func TestRingWatchAndWait(t *testing.T) {
	m := ringOf(t, 3, 1)
	o := m.operator(t)
	require.Equal(t, "No plan is under way.\n", o.does("ring watch"))
	require.Equal(t, "No plan is under way.\n", o.does("ring wait"))
	require.Contains(t, o.does("ring wait --json"), `"cluster": "quoll"`)
	o.does("ring plan replace n2 n4")
	o.does("ring commit")
	m.move(t, 4096)
	require.Contains(t, o.fails(exitUnhealthy, "ring wait --timeout 1s"), "not over within 1s: 4096 of 16384 slots have moved, and it goes on")
	o.does("ring pause")
	require.Contains(t, o.fails(exitUnhealthy, "ring wait --timeout 1s"), "the ring is paused: quoll ring resume")
	o.does("ring resume")

	m.onLook(func() { m.move(t, 6000) })
	require.Equal(t, "The plan is over.\n", o.does("ring wait --timeout 1m"))
	_, found := m.document.ByName("n2")
	require.False(t, found)
}

func TestRingWatchDrawsMoves(t *testing.T) {
	m := ringOf(t, 3, 1)
	o := m.operator(t)
	o.does("ring plan replace n2 n4")
	o.does("ring commit")
	id := m.document.Plan.ID
	m.move(t, 4096)

	var text strings.Builder
	s := &screen{out: &text, terminal: true}
	var p pace
	now := time.Unix(0, 0)
	status := func() admin.RingStatus {
		var status admin.RingStatus
		client := admin.NewClient(o.address, "")
		defer client.Close()
		status, err := client.Ring(t.Context())
		require.NoError(t, err)
		return status
	}
	require.NoError(t, s.show(p.see(status(), now), now))
	require.Equal(t, "Plan "+id+": 4096 of 16384 slots moved, 0 on their way; 256.0MiB of 1.0GiB, 0B/s\n"+
		"  n2 > n4 [===         ] 25%, 4096 of 16384 slots, 256.0MiB of 1.0GiB\n", text.String())
	m.move(t, 4096)
	now = now.Add(10 * time.Second)
	text.Reset()
	require.NoError(t, s.show(p.see(status(), now), now))
	require.Equal(t, "\x1b[2A\x1b[JPlan "+id+": 8192 of 16384 slots moved, 0 on their way; 512.0MiB of 1.0GiB, 25.6MiB/s, 20s left\n"+
		"  n2 > n4 [======      ] 50%, 8192 of 16384 slots, 512.0MiB of 1.0GiB, 25.6MiB/s, 20s left\n", text.String())

	lines := &screen{out: &text}
	text.Reset()
	m.dead["n1"], m.dead["n2"] = true, true
	o.does("ring pause")
	for range 12 { // 5 s after the first line comes one, 10 s after that the next
		require.NoError(t, lines.show(p.see(status(), now), now))
		now = now.Add(time.Second)
	}
	require.Equal(t, 2, strings.Count(text.String(), "\n"))
	require.Contains(t, text.String(), "paused; some slots wait for members that are down\n")

	seen := p.see(status(), now)
	require.Zero(t, seen.Moves[0].BytesPerSecond-seen.BytesPerSecond)
	o.does("ring abort")
	require.Contains(t, planLine(p.see(status(), now)), "Plan "+id+" is being undone: 8192 of 16384 slots moved")
}

func TestRingWatchInJSON(t *testing.T) {
	m := ringOf(t, 3, 1)
	o := m.operator(t)
	o.does("ring plan replace n2 n4")
	o.does("ring commit")
	m.move(t, 5000)
	looks := 0
	m.onLook(func() {
		if looks++; looks > 1 {
			m.move(t, 6000)
		}
	})
	var lines []watched
	for line := range strings.Lines(o.does("ring watch --json --interval 100ms")) {
		var w watched
		require.NoError(t, json.Unmarshal([]byte(line), &w))
		lines = append(lines, w)
	}
	require.Len(t, lines, 3)
	require.Equal(t, 5000, lines[0].Plan.Moved)
	require.Equal(t, "n4", lines[0].Moves[0].To)
	require.Nil(t, lines[len(lines)-1].Plan)
	require.Contains(t, o.fails(exitUsage, "ring watch --interval 1ms"), "interval: at least 100ms")
}

func TestRingWaitSaysThatAPlanWasAborted(t *testing.T) {
	m := ringOf(t, 3, 1)
	o := m.operator(t)
	o.does("ring plan replace n2 n4")
	o.does("ring commit")
	m.move(t, 4096)
	client := admin.NewClient(o.address, "")
	defer client.Close()
	a := &app{stderr: new(strings.Builder)}
	step := 0
	_, err := a.wait(t.Context(), client, waitOptions{quiet: true}, func(admin.RingStatus) bool {
		switch step++; step {
		case 1:
			o.does("ring abort")
		case 2:
			for m.move(t, 5000) {
			}
		}
		return false
	})
	require.ErrorContains(t, err, "the plan was aborted meanwhile")
}

func TestNodeLeave(t *testing.T) {
	m := ringOf(t, 4, 0)
	m.self = "n4"
	o := m.operator(t)
	require.Contains(t, o.does("node leave --dry-run"), "Nothing was done. It would be:\n\nStaged:\n  leave n4\n")
	o.does("ring plan weight n1 2")
	require.Contains(t, o.fails(exitFailure, "node leave"), "other changes are staged, and would be committed too (weight n1 2)")
	o.does("ring plan clear")
	require.Contains(t, o.fails(exitUnhealthy, "node leave -q --timeout 1s"), "not over within 1s: 0 of ")
	m.onLook(func() { m.move(t, 6000) })
	require.Equal(t, "n4 has left the ring: its process can be stopped.\n", o.does("node leave"), "it goes on waiting")
	require.Contains(t, o.fails(exitFailure, "node leave"), "no such member")

	m = ringOf(t, 3, 0)
	o = m.operator(t)
	require.Contains(t, o.fails(exitFailure, "node leave"), "3 replicas")
	require.Empty(t, m.document.Staged, "what can't be is not left staged")
	m = ringOf(t, 4, 0)
	m.dead["n2"], m.dead["n3"] = true, true
	o = m.operator(t)
	require.Contains(t, o.fails(exitFailure, "node leave"), "too few replicas are alive")
	require.Empty(t, m.document.Staged)
}

func TestShellsCompleteNamesOfTheRing(t *testing.T) {
	m := ringOf(t, 3, 1)
	o := m.operator(t)
	complete := func(line string) []string {
		words := strings.Fields(line)
		code, stdout, _ := o.run(append(append([]string{"__complete"}, words...), "")...)
		require.Equal(t, exitOK, code)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		return lines[:len(lines)-1] // the last one says what else to complete
	}
	verbs := []string{"join", "leave", "replace", "weight", "rack", "replicas"}
	require.Equal(t, append(verbs, "clear"), complete("ring plan"))
	require.Equal(t, []string{"n4"}, complete("ring plan join"))
	require.Equal(t, verbs, complete("ring plan join n4"))
	require.Equal(t, []string{"n1", "n2", "n3"}, complete("ring plan join n4 leave"))
	require.Equal(t, []string{"n4"}, complete("ring plan replace n2"))
	require.Equal(t, []string{"-", "r1", "r2", "r3", "r4"}, complete("ring plan rack n1"))
	require.Empty(t, complete("ring plan weight n1"))
	require.Equal(t, []string{"n4"}, complete("ring forget"))
	require.Empty(t, complete("ring commit"))
	o.does("ring plan replace n2 n4")
	require.Equal(t, []string{planID(m)}, complete("ring commit"))
	o.does("ring commit")
	require.Equal(t, []string{m.document.Plan.ID}, complete("ring abort"))
	require.Equal(t, []string{"table", "json"}, complete("ring plan -o"))
	o.environ = []string{"QUOLL_ADMIN=127.0.0.1:1"}
	require.Empty(t, complete("ring plan join"))
}
