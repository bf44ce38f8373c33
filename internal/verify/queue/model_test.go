package queue

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// world is a right server, and clients that use it. Rapid decides who does what, when an operation takes effect between its beginning and its end, and which
// have no known outcome: these take effect later, or never.
type world struct {
	t       *rapid.T
	d       Discipline
	unknown bool // some outcomes are
	clock   int64
	made    int
	queues  map[string][]string
	lists   map[string][]string // of workers; of Grouped what is pending
	lost    []string            // workers whose lists wait to be emptied
	workers int
	clients [5]*client
	late    []*flight
	ops     []Op
}

type client struct {
	worker string
	has    string // an element that was handed out to it
	doing  *flight
}

// flight is an operation under way. Do does it.
type flight struct {
	op   Op
	do   func(op *Op)
	done bool
	then func(op *Op)
}

func newWorld(t *rapid.T, d Discipline, unknown bool) *world {
	w := &world{t: t, d: d, unknown: unknown, queues: map[string][]string{}, lists: map[string][]string{}}
	for i := range w.clients {
		w.clients[i] = &client{worker: w.worker()}
	}
	return w
}

func (w *world) worker() string {
	w.workers++
	return fmt.Sprint("worker-", w.workers)
}

func (w *world) now() int64 { w.clock++; return w.clock }

func (w *world) chance(of int) bool { return rapid.IntRange(0, of-1).Draw(w.t, "chance") == of-1 }

// names are those of the queues. Only of Popped several are taken from at once.
func (w *world) names() []string {
	if w.d == Popped {
		return []string{"a", "b"}
	}
	return []string{"a"}
}

// step lets a client begin something, do what it began, or end it.
func (w *world) step() {
	if len(w.late) > 0 && w.chance(8) {
		w.late[0].do(&w.late[0].op)
		w.late = w.late[1:]
	}
	c := w.clients[rapid.IntRange(0, len(w.clients)-1).Draw(w.t, "client")]
	switch {
	case c.doing == nil:
		c.doing = w.draw(c)
		c.doing.op.Begin = w.now()
	case w.unknown && w.chance(12):
		w.doubt(c)
	case !c.doing.done:
		c.doing.do(&c.doing.op)
		c.doing.done = true
	default:
		w.end(c)
	}
}

func (w *world) end(c *client) {
	f := c.doing
	c.doing = nil
	f.op.End = w.now()
	w.ops = append(w.ops, f.op)
	if f.then != nil {
		f.then(&f.op)
	}
}

// doubt ends what a client does with an unknown outcome. Its list is left then.
func (w *world) doubt(c *client) {
	f := c.doing
	c.doing = nil
	if !f.done {
		w.late = append(w.late, f)
	}
	op := f.op
	op.Outcome, op.End = Unknown, w.now()
	if op.Kind != Push && op.Kind != Done {
		op.Elements = nil
	}
	w.ops = append(w.ops, op)
	if op.Kind != Push {
		w.leave(c)
	}
	if op.Kind == Return {
		w.lost = append(w.lost, op.Worker)
	}
}

func (w *world) leave(c *client) {
	w.lost = append(w.lost, c.worker)
	c.worker, c.has = w.worker(), ""
}

func (w *world) draw(c *client) *flight {
	switch {
	case c.has != "" && w.chance(8):
		w.leave(c)
	case c.has != "":
		return w.deal(c)
	case w.d == Grouped && w.chance(6):
		return w.claim(c)
	case w.d == Moved && len(w.lost) > 0 && w.chance(3):
		return w.back()
	}
	if rapid.Bool().Draw(w.t, "push") {
		return w.push()
	}
	return w.take(c)
}

func (w *world) push() *flight {
	w.made++
	queue, element := rapid.SampledFrom(w.names()).Draw(w.t, "queue"), fmt.Sprint("e", w.made)
	return &flight{op: Op{Kind: Push, Queues: []string{queue}, Elements: []string{element}}, do: func(*Op) {
		w.queues[queue] = append(w.queues[queue], element)
	}}
}

func (w *world) take(c *client) *flight {
	worker := c.worker
	from := w.names()
	if rapid.Bool().Draw(w.t, "one") {
		from = from[:1]
	}
	op := Op{Kind: Take, Queues: from, Worker: worker, Most: rapid.IntRange(1, 3).Draw(w.t, "most")}
	if w.d == Moved {
		op.Most = 1
	}
	return &flight{op: op, do: func(op *Op) {
		for i, queue := range from {
			n := min(op.Most, len(w.queues[queue]))
			if n == 0 {
				continue
			}
			op.Elements = slices.Clone(w.queues[queue][:n])
			op.Queues = append([]string{queue}, slices.Delete(slices.Clone(from), i, i+1)...)
			w.queues[queue] = w.queues[queue][n:]
			w.keep(worker, op.Elements)
			return
		}
	}, then: func(op *Op) { w.got(c, worker, op.Elements) }}
}

func (w *world) keep(worker string, elements []string) {
	if w.d == Grouped {
		worker = ""
	}
	if w.d != Popped {
		w.lists[worker] = append(w.lists[worker], elements...)
	}
}

func (w *world) got(c *client, worker string, elements []string) {
	if w.d != Popped && len(elements) > 0 && c.worker == worker {
		c.has = elements[0] // the others are left for who claims them
	}
}

func (w *world) deal(c *client) *flight {
	element, worker := c.has, c.worker
	c.has = ""
	return &flight{op: Op{Kind: Done, Queues: w.names(), Worker: worker, Elements: []string{element}}, do: func(op *Op) {
		if w.d == Grouped {
			worker = ""
		}
		i := slices.Index(w.lists[worker], element)
		if op.None = i < 0; i >= 0 {
			w.lists[worker] = slices.Delete(slices.Clone(w.lists[worker]), i, i+1)
		}
	}}
}

func (w *world) claim(c *client) *flight {
	worker := c.worker
	return &flight{op: Op{Kind: Claim, Queues: w.names(), Worker: worker}, do: func(op *Op) {
		op.Elements = slices.Clone(w.lists[""][:min(2, len(w.lists[""]))])
	}, then: func(op *Op) { w.got(c, worker, op.Elements) }}
}

func (w *world) back() *flight {
	worker := w.lost[0]
	w.lost = w.lost[1:]
	return &flight{op: Op{Kind: Return, Queues: w.names(), Worker: worker}, do: func(op *Op) {
		if list := w.lists[worker]; len(list) > 0 {
			op.Elements = list[len(list)-1:]
			w.lists[worker] = list[:len(list)-1]
			w.queues["a"] = append([]string{op.Elements[0]}, w.queues["a"]...)
		}
	}, then: func(op *Op) {
		if len(op.Elements) > 0 {
			w.lost = append(w.lost, worker)
		}
	}}
}

// look reads everything that is left, while what is late may still happen.
func (w *world) look() {
	left := func(queue, worker string, elements []string) {
		begin := w.now()
		w.ops = append(w.ops, Op{Kind: Left, Queues: []string{queue}, Worker: worker, Elements: slices.Clone(elements), Begin: begin, End: w.now()})
	}
	for _, queue := range w.names() {
		left(queue, "", w.queues[queue])
	}
	if w.d == Grouped { // what is new is taken, and then all that is pending is claimed
		begin := w.now()
		op := Op{Kind: Take, Queues: w.names(), Worker: "last", Elements: w.queues["a"], Most: 1000, Begin: begin}
		w.ops = w.ops[:len(w.ops)-1] // there is no reading the new ones
		w.keep("", w.queues["a"])
		w.queues["a"] = nil
		op.End = w.now()
		w.ops = append(w.ops, op)
		left("a", "last", w.lists[""])
		return
	}
	for i := range w.workers {
		worker := fmt.Sprint("worker-", i+1)
		left("a", worker, w.lists[worker])
	}
}

// live lets the clients work, and looks what is left.
func (w *world) live() []Op {
	for range rapid.IntRange(20, 200).Draw(w.t, "steps") {
		w.step()
	}
	for _, c := range w.clients {
		if f := c.doing; f != nil {
			if !f.done {
				f.do(&f.op)
			}
			w.end(c)
		}
	}
	w.look()
	for _, f := range w.late {
		if rapid.Bool().Draw(w.t, "late") {
			f.do(&f.op)
			w.look()
		}
	}
	w.look()
	return w.ops
}
