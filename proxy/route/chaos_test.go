package route

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
)

// chaos scripts nodes that answer late, refuse, point to each other, forget to answer
// and do not know, at random. They execute what they do not refuse in the order of the frame.
type chaos struct {
	mu      sync.Mutex
	random  *rand.Rand
	frames  map[[2]int64]*chaosFrame
	writes  map[string][]*delivery // by value, which is unique
	order   []string               // values in the order of their execution
	holds   map[string]string      // by key, the value
	delayed sync.WaitGroup
}

// chaosFrame is a frame of requests on its way through a node.
type chaosFrame struct {
	late    bool
	waiting []*request
}

// delivery is a write that came to a node.
type delivery struct {
	node   uint16
	answer protocol.Status
}

const noAnswer = protocol.Status(99)

func newChaos(seed uint64) *chaos {
	return &chaos{random: rand.New(rand.NewPCG(seed, 1)), frames: map[[2]int64]*chaosFrame{},
		writes: map[string][]*delivery{}, holds: map[string]string{}}
}

func (c *chaos) chance(percent int) bool { return c.random.IntN(100) < percent }

func (c *chaos) play(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := [2]int64{int64(r.node.id), r.frame}
	f := c.frames[id]
	if f == nil {
		f = &chaosFrame{late: c.chance(30)}
		c.frames[id] = f
	}
	if !f.late {
		c.answer(r)
		return
	}
	if f.waiting = append(f.waiting, r); len(f.waiting) == 1 {
		c.delayed.Add(1)
		time.AfterFunc(time.Duration(c.random.IntN(60))*time.Millisecond, func() {
			defer c.delayed.Done()
			c.mu.Lock()
			defer c.mu.Unlock()
			f.late = false
			for _, r := range f.waiting {
				c.answer(r)
			}
		})
	}
}

func (c *chaos) answer(r *request) {
	if r.Kind != protocol.Execute {
		c.vote(r)
		return
	}
	d := &delivery{node: r.node.id}
	if len(r.Req.Args) > 2 {
		c.writes[r.arg(2)] = append(c.writes[r.arg(2)], d)
	}
	if c.chance(20) {
		reasons := []answer.Reason{answer.OtherHome, answer.LostTerm, answer.EpochChanged, answer.NoQuorum, answer.NotVoting, answer.Expired, answer.Overloaded}
		d.answer = protocol.StatusNotDone
		r.notDone(reasons[c.random.IntN(len(reasons))], uint16(c.random.IntN(5)))
		return
	}
	if len(r.Req.Args) > 2 {
		c.order = append(c.order, r.arg(2))
		c.holds[r.arg(1)] = r.arg(2)
	}
	switch {
	case c.chance(4):
		d.answer = protocol.StatusUnknown
		r.unknown()
	case c.chance(2):
		d.answer = noAnswer
	default:
		d.answer = protocol.StatusDone
		r.done("+" + c.holds[r.arg(1)] + "\r\n")
	}
}

func (c *chaos) vote(r *request) {
	switch {
	case c.chance(5):
		r.askHome()
	case c.chance(5):
		r.notDone(answer.EpochChanged, 0)
	case c.chance(1): // no answer
	default:
		r.vote(c.random.Uint64N(20)/19+1, "+read\r\n")
	}
}

// outcomes are what clients saw, by value.
type outcomes struct {
	mu   sync.Mutex
	seen map[string]answer.Outcome
}

// client executes random batches until the time is over.
func (o *outcomes) client(t *testing.T, c *Coordinator, id int, random *rand.Rand, until time.Time) {
	b := new(Batch)
	for n := 0; time.Now().Before(until); n++ {
		var requests []command.Request
		for i := range 1 + random.IntN(12) {
			key := fmt.Sprint("k", random.IntN(6))
			if random.IntN(3) == 0 {
				requests = append(requests, get(key))
			} else {
				requests = append(requests, set(key, fmt.Sprintf("%s %d %d %d", key, id, n, i)))
			}
		}
		executeInTime(t, c, b.fill(requests...))
		o.note(t, b, id, n)
	}
}

func (o *outcomes) note(t *testing.T, b *Batch, id, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range b.Ops {
		op := &b.Ops[i]
		if len(op.Req.Args) < 3 {
			if op.Outcome == answer.Unknown {
				t.Errorf("a read ended as %q", op.text())
			}
			if client, batch, at := origin(string(op.Reply[1:])); op.Outcome == answer.Done && client == id && batch == n && at > i {
				t.Errorf("operation %d of a batch read what operation %d wrote: %q", i, at, op.Reply)
			}
			continue
		}
		value := string(op.Req.Args[2])
		o.seen[value] = op.Outcome
		if op.Outcome == answer.Done && string(op.Reply) != "+"+value+"\r\n" {
			t.Errorf("%s was answered %q", value, op.Reply)
		}
	}
}

func TestWritesAtMostOnceUnderChaos(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			f := startRing(t, 3)
			c := startCoordinator(t, Config{OperationTimeout: 300 * time.Millisecond, Seeds: []string{f.nodes[0].address()}, suspectAfter: 50 * time.Millisecond,
				SlowTimeout: 600 * time.Millisecond}) // what is refused because a node has too much to do would be tried for minutes
			f.awaitUp(c, 3)
			nodes := newChaos(seed)
			f.play(nodes.play)
			clients := outcomes{seen: map[string]answer.Outcome{}}
			until := time.Now().Add(2 * time.Second)
			var wait sync.WaitGroup
			for id := range 4 {
				random := rand.New(rand.NewPCG(seed, uint64(id)))
				wait.Go(func() { clients.client(t, c, id, random, until) })
			}
			wait.Go(func() { f.fail(rand.New(rand.NewPCG(seed, 99)), until) })
			wait.Wait()
			c.Close()
			for _, n := range f.nodes {
				n.server.Close() // nothing is under way any more
			}
			nodes.delayed.Wait()
			nodes.check(t, clients.seen)
		})
	}
}

// origin says which client wrote a value, with which operation of which batch.
func origin(value string) (client, batch, i int) {
	var key string
	if _, err := fmt.Sscan(value, &key, &client, &batch, &i); err != nil {
		return -1, -1, -1
	}
	return client, batch, i
}

// fail makes the network fail at random.
func (f *fakeRing) fail(random *rand.Rand, until time.Time) {
	for time.Now().Before(until) {
		n := f.nodes[random.IntN(len(f.nodes))]
		pause := time.Duration(random.IntN(200)) * time.Millisecond
		switch random.IntN(4) {
		case 0:
			n.cut()
		case 1:
			n.setDown(true)
			time.Sleep(pause)
			n.setDown(false)
		case 2:
			n.freeze()
			time.Sleep(2 * pause)
			n.thaw()
		}
		time.Sleep(pause)
	}
}

// check compares what was delivered with what the clients were told.
func (c *chaos) check(t *testing.T, seen map[string]answer.Outcome) {
	counts := map[answer.Outcome]int{}
	for value, outcome := range seen {
		counts[outcome]++
		var text []string
		doing := 0
		for _, d := range c.writes[value] {
			text = append(text, fmt.Sprint(d.node, ":", d.answer))
			if d.answer != protocol.StatusNotDone {
				doing++
			} else if doing > 0 {
				t.Errorf("%s was sent on after it may have been done: %s", value, text)
			}
		}
		switch {
		case doing > 1:
			t.Errorf("%s reached two homes that did it: %s", value, text)
		case outcome == answer.Done && (doing == 0 || c.writes[value][len(text)-1].answer != protocol.StatusDone):
			t.Errorf("%s is said to be done: %s", value, text)
		case outcome == answer.NotDone && doing > 0:
			t.Errorf("%s is said to have had no effect: %s", value, text)
		}
	}
	t.Log("done, no effect, unknown:", counts[answer.Done], counts[answer.NotDone], counts[answer.Unknown])
	require.NotZero(t, counts[answer.Done])

	last := map[string]int{} // by key, client and batch
	for _, value := range c.order {
		if seen[value] != answer.Done {
			continue // it may take effect at any time
		}
		client, batch, i := origin(value)
		chain := fmt.Sprint(value[:2], " ", client, " ", batch)
		if before, ok := last[chain]; ok && before > i {
			t.Errorf("batch %s: operation %d was executed before %d", chain, before, i)
		}
		last[chain] = i
	}
}
