package route

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

const fakeClusterName = "fake"

// fakeRing is a cluster of fake nodes. Unless the script of a test says otherwise
// they answer well: they have all data in common.
type fakeRing struct {
	t        testing.TB
	cluster  ring.Cluster
	table    *ring.Table
	document change.Document
	nodes    []*fakeNode // by ID-1
	quick    bool        // the nodes answer everything at once, and keep no log

	mu     sync.Mutex
	script func(*request)
	log    []*request // everything that was delivered, in order
	data   map[string]held
}

type held struct {
	seq   uint64
	value string
}

// startRing starts a ring of n members with three replicas.
func startRing(t testing.TB, n int) *fakeRing {
	t.Helper()
	f := &fakeRing{t: t, data: map[string]held{}}
	for id := range uint16(n) {
		f.nodes = append(f.nodes, startNode(t, f, id+1, fakeClusterName))
	}
	f.form(1)
	return f
}

// form makes the nodes members of a ring whose members have this generation.
func (f *fakeRing) form(generation uint64) {
	f.cluster = ring.Cluster{Name: fakeClusterName, Epoch: 1, Replicas: 3}
	for _, n := range f.nodes {
		f.cluster.Members = append(f.cluster.Members, ring.Member{
			ID: n.id, Name: fmt.Sprintf("n%d", n.id), Peer: n.address(), Rack: fmt.Sprintf("r%d", n.id), Weight: 1, Generation: generation})
	}
	var err error
	f.document, err = change.FromCluster(f.cluster)
	require.NoError(f.t, err)
	f.table, err = f.document.Table()
	require.NoError(f.t, err)
	for _, n := range f.nodes {
		n.vote(f.document)
	}
}

// newCoordinator returns a coordinator that knows these seeds only, and is so
// patient with silent nodes that a busy machine does not matter.
func newCoordinator(t testing.TB, timeout time.Duration, seeds ...string) *Coordinator {
	return startCoordinator(t, Config{OperationTimeout: timeout, Seeds: seeds, suspectAfter: time.Minute})
}

func startCoordinator(t testing.TB, cfg Config) *Coordinator {
	cfg.Name, cfg.ClusterName, cfg.Logger = "p", fakeClusterName, quietLog()
	c := New(cfg)
	t.Cleanup(c.Close)
	return c
}

// coordinator returns one whose links are up.
func (f *fakeRing) coordinator(timeout time.Duration) *Coordinator {
	f.t.Helper()
	c := newCoordinator(f.t, timeout, f.nodes[0].address())
	f.awaitUp(c, len(f.nodes))
	require.NoError(f.t, c.Loading()) // which notes that all have been there
	return c
}

// suspicious returns one that suspects silent nodes as soon as in earnest.
func (f *fakeRing) suspicious(timeout time.Duration) *Coordinator {
	f.t.Helper()
	c := startCoordinator(f.t, Config{OperationTimeout: timeout, Seeds: []string{f.nodes[0].address()}})
	f.awaitUp(c, len(f.nodes))
	return c
}

// awaitUp waits until so many links are up.
func (f *fakeRing) awaitUp(c *Coordinator, n int) {
	f.t.Helper()
	if !assert.Eventually(f.t, func() bool { return countUp(c) == n }, 10*time.Second, 2*time.Millisecond) {
		if view := c.ring.Load(); view != nil {
			for _, l := range view.nodes {
				f.t.Log(l.id, l.link.State(), l.link.Err())
			}
		}
		f.t.FailNow()
	}
}

func countUp(c *Coordinator) int {
	up := 0
	if view := c.ring.Load(); view != nil {
		for _, l := range view.nodes {
			if l.up.Load() {
				up++
			}
		}
	}
	return up
}

func eventually(t testing.TB, is func() bool, what string, args ...any) {
	t.Helper()
	require.Eventually(t, is, 5*time.Second, 2*time.Millisecond, append([]any{what}, args...)...)
}

// play sets the script.
func (f *fakeRing) play(script func(*request)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = script
}

func (f *fakeRing) deliver(r *request) {
	f.mu.Lock()
	f.log = append(f.log, r)
	script := f.script
	f.mu.Unlock()
	if script != nil {
		script(r)
		return
	}
	f.answer(r)
}

// seen returns what was delivered: "2:execute set k v", with !3 if member 3 is excepted.
func (f *fakeRing) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var seen []string
	for _, r := range f.log {
		seen = append(seen, r.String())
	}
	return seen
}

func (f *fakeRing) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = nil
}

func (r *request) String() string {
	kind := [...]string{"value", "version", "execute"}[r.Kind]
	if r.Except != 0 {
		kind += fmt.Sprint("!", r.Except)
	}
	return fmt.Sprintf("%d:%s %s", r.node.id, kind, r.Req.Args[1])
}

// answer answers as a healthy cluster does.
func (f *fakeRing) answer(r *request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Req.Op == command.OpClear {
		for key := range f.data {
			if ring.SlotOf([]byte(key)) == r.Slot {
				delete(f.data, key)
			}
		}
		r.done(resp.OK)
		return
	}
	if r.Req.Op == command.OpBatch {
		r.done(f.batch(&r.Req))
		return
	}
	key := r.arg(1)
	have, exists := f.data[key]
	if r.Req.Op == command.OpDel || r.Req.Op == command.OpFlushKey {
		delete(f.data, key)
		r.done(":1\r\n")
		return
	}
	if r.Req.Op == command.OpSet {
		f.data[key] = held{have.seq + 1, r.arg(2)}
		r.done(resp.OK)
		return
	}
	reply := resp.AppendNull(nil, r.Req.RESP3)
	switch {
	case r.Req.Op == command.OpType && exists:
		reply = []byte("+string\r\n")
	case r.Req.Op == command.OpType:
		reply = []byte("+none\r\n")
	case exists:
		reply = resp.AppendBulk(nil, have.value)
	}
	if r.Kind == protocol.Execute {
		r.done(string(reply))
		return
	}
	r.vote(have.seq, string(reply))
}

// batch executes an MGET, or an MSET, of keys of one slot.
func (f *fakeRing) batch(req *command.Request) string {
	b, err := command.ParseBatch(req)
	if err != nil {
		return string(resp.AppendError(nil, err.Error()))
	}
	args := b.Commands[0].Args[1:]
	if b.Commands[0].Op == command.OpMSet {
		for i := 0; i < len(args); i += 2 {
			key := string(args[i])
			f.data[key] = held{f.data[key].seq + 1, string(args[i+1])}
		}
		return resp.OK
	}
	reply := resp.AppendArray(nil, len(args))
	for _, key := range args {
		if have, exists := f.data[string(key)]; exists {
			reply = resp.AppendBulk(reply, have.value)
			continue
		}
		reply = resp.AppendNull(reply, req.RESP3)
	}
	return string(reply)
}

// keys returns n keys whose replicas begin with these members, the first being the
// preferred home.
func (f *fakeRing) keys(n int, ids ...uint16) []string {
	var keys []string
	for i := 0; len(keys) < n; i++ {
		key := fmt.Sprintf("k%d", i)
		if slices.Equal(f.table.Replicas(ring.SlotOf([]byte(key)))[:len(ids)], ids) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (f *fakeRing) key(ids ...uint16) string { return f.keys(1, ids...)[0] }

// hold lists keys as records of some nodes, for scans.
func (f *fakeRing) hold(seq uint64, typ record.Type, keys []string, ids ...uint16) {
	for _, id := range ids {
		n := f.nodes[id-1]
		n.mu.Lock()
		for _, key := range keys {
			position := uint64(0)
			for _, b := range []byte(key) {
				position = position*31 + uint64(b)
			}
			n.entries = append(n.entries, protocol.ScanEntry{Place: protocol.NewPlace(ring.SlotOf([]byte(key)), position&(1<<48-1)),
				Key: []byte(key), Version: record.Version{Ballot: record.Ballot{Counter: 1}, Seq: seq}, Type: typ})
		}
		slices.SortFunc(n.entries, func(a, b protocol.ScanEntry) int { return cmp.Compare(a.Place, b.Place) })
		n.mu.Unlock()
	}
}

func executeOp(key string) protocol.Op { return protocol.Op{Kind: protocol.Execute, Req: set(key, "")} }

func slotOfKey(key string) uint16 { return ring.SlotOf([]byte(key)) }

const (
	// patient is an operation time-out that is never reached.
	patient = 20 * time.Second
	// slack is what a busy machine may add to a time-out.
	slack = 2 * time.Second
)

// What the tests execute.

func get(key string) command.Request {
	return command.Request{Op: command.OpGet, Args: [][]byte{[]byte("get"), []byte(key)}}
}

func set(key, value string) command.Request {
	return command.Request{Op: command.OpSet, Args: [][]byte{[]byte("set"), []byte(key), []byte(value)}}
}

func (b *Batch) fill(requests ...command.Request) *Batch {
	b.Reset()
	for _, req := range requests {
		b.Add(req, req.Op != command.OpGet)
	}
	return b
}

// run executes a batch.
func run(t testing.TB, c *Coordinator, requests ...command.Request) *Batch {
	t.Helper()
	b := new(Batch).fill(requests...)
	executeInTime(t, c, b)
	return b
}

// executeInTime executes a batch and checks that it takes no longer than it may: two time-outs, if a home hangs (docs/guarantees.md). Time
// in which the whole process stood still, as it does on a busy machine, counts little.
func executeInTime(t testing.TB, c *Coordinator, b *Batch) {
	const tick = 50 * time.Millisecond
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for range int((2*c.cfg.OperationTimeout + slack) / tick) {
			select {
			case <-done:
				return
			case <-time.After(tick):
			}
		}
		t.Error("a batch takes longer than its time-out")
	})
	c.Execute(b)
	close(done)
	watch.Wait()
}

// runLater executes a batch in another goroutine, which the test waits for.
func runLater(t testing.TB, c *Coordinator, requests ...command.Request) <-chan *Batch {
	result := make(chan *Batch, 1)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		b := new(Batch).fill(requests...)
		c.Execute(b)
		result <- b
	}()
	t.Cleanup(func() { <-finished })
	return result
}

// text is how an operation ended, in a form to compare: its reply, or the word of
// the error with what it says of the effect.
func (o *Op) text() string {
	switch o.Outcome {
	case answer.Done:
		return string(o.Reply)
	case answer.NotDone:
		return "no effect: " + string(o.Reply)
	}
	return "unknown: " + string(o.Reply)
}

func refused(err error) string { return "no effect: " + string(AppendReply(nil, err)) }

var unknownOutcome = "unknown: " + string(AppendReply(nil, ErrUnknownOutcome))

func texts(b *Batch) []string {
	var all []string
	for i := range b.Ops {
		all = append(all, b.Ops[i].text())
	}
	return all
}
