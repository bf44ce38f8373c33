package register

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// TestReplay: what happened to a process, recorded, has the same outputs byte for byte when it happens to another one whose store is empty,
// too: messages, answers, votes, and what is to be persisted, some of which is not. One of them has a Ready that is used again and again, the other one a new Ready for each step.
func TestReplay(t *testing.T) {
	for seed := range uint64(15) {
		tape := recordTape(t, seed)
		require.NotEmpty(t, tape.out)
		again := tape.play(t)
		require.Equal(t, tape.out, again, "seed %d", seed)
	}
}

// tape is what happened to a process, in order, and what came of it.
type tape struct {
	inputs  []func() Input // made anew each time: a home owns the requests that it is given
	answers []string       // of the Env
	out     []string
}

// played is a process of which everything is written down.
type played struct {
	tape     *tape // the Env's answers are taken from it if it is replayed
	replay   bool
	rand     *rand.Rand // answers the Env's questions while recording
	next     int        // of the answers
	store    *fakeStore
	acceptor Acceptor
	home     Home
	ready    Ready
	out      []string
	mail     []Message // what was sent, and the own votes, while recording
}

func newPlayed(t *testing.T, tp *tape) *played {
	p := &played{tape: tp, store: &fakeStore{records: map[string]record.Record{}}}
	var err error
	p.acceptor, err = NewAcceptor(0, p.store, datatype.Apply)
	require.NoError(t, err)
	p.home = NewHome(p, &testTiming, 0, 1, record.NewIncarnation(7, 1), NewConfig(1, []uint16{1, 2, 3}, nil), &p.acceptor)
	return p
}

// ask returns what the Env answered, or answers.
func asks[T any](p *played, question string, answer func() T) T {
	if !p.replay {
		a := answer()
		p.tape.answers = append(p.tape.answers, fmt.Sprint(question, a))
		return a
	}
	var a T
	text := p.tape.answers[p.next]
	p.next++
	if _, err := fmt.Sscan(text[len(question):], &a); err != nil || text[:len(question)] != question {
		panic("another question was asked: " + question + ", not " + text)
	}
	return a
}

func (p *played) chance(question string, percent int) bool {
	return asks(p, question, func() bool { return p.rand.IntN(100) < percent })
}

func (p *played) Rand(n int64) int64 {
	return asks(p, "rand ", func() int64 { return p.rand.Int64N(n) })
}
func (p *played) Alive(member uint16) bool { return p.chance(fmt.Sprint("alive ", member, " "), 80) }
func (p *played) Behind(member uint16, _ int64) bool {
	return p.chance(fmt.Sprint("behind ", member, " "), 20)
}
func (p *played) Stable(member uint16) bool  { return p.chance(fmt.Sprint("stable ", member, " "), 10) }
func (p *played) Leaving(member uint16) bool { return p.chance(fmt.Sprint("leaving ", member, " "), 2) }
func (p *played) StandIn(_, _ uint16) uint16 {
	return asks(p, "stand-in ", func() uint16 { return uint16(p.rand.IntN(4)) })
}

func (p *played) Execute(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect, error) {
	dst, effect := datatype.Execute(dst, st, req, now)
	return dst, effect, nil
}

// step lets something happen, and writes down what comes of it.
func (p *played) step(in Input) {
	p.home.Step(&in, &p.ready)
	for w := &p.ready.Write; w.Wanted(); {
		p.out = append(p.out, describe(w))
		p.store.full = p.chance("no room ", 2)
		in.Happening, in.Err = Persisted, w.To(p.store)
		p.home.Step(&in, &p.ready)
	}
	for i := range p.ready.Messages {
		m := &p.ready.Messages[i]
		p.out = append(p.out, fmt.Sprintf("%v <- %+v", m.To, m.Message))
		for _, id := range m.To {
			if c := copyOf(&m.Message); id != 1 {
				c.To = id
				p.mail = append(p.mail, c)
			}
		}
	}
	for _, a := range p.ready.Answers {
		p.out = append(p.out, fmt.Sprintf("answer %d: %+v", a.Request.OriginID, a.Answer))
	}
	for i := range p.ready.Votes {
		p.out = append(p.out, fmt.Sprintf("vote %+v", p.ready.Votes[i]))
		p.mail = append(p.mail, copyOf(&p.ready.Votes[i]))
	}
	p.out = append(p.out, fmt.Sprintf("missed %v, events %v, %d writes", p.ready.Missed, p.ready.Events, p.store.writes))
	if p.ready.Reset(); p.replay {
		p.ready = Ready{}
	}
}

// describe tells what is to be persisted.
func describe(w *Write) string {
	text := "write"
	if w.SetsMeta {
		text += fmt.Sprintf(" %+v", w.Meta)
	}
	switch w.Kind {
	case WriteChanges:
		text += fmt.Sprintf(" %v: %+v", w.Version, w.Changes)
	case WriteDelete:
		text += fmt.Sprintf(" without %s", w.Key)
	case WriteClear, WriteReset:
		text += fmt.Sprintf(" without records (%d)", w.Kind)
	}
	return text
}

// play lets all of it happen again.
func (tp *tape) play(t *testing.T) []string {
	p := newPlayed(t, tp)
	p.replay = true
	for _, in := range tp.inputs {
		p.step(in())
	}
	require.Len(t, tp.answers, p.next, "fewer questions were asked")
	return append(p.out, fmt.Sprintf("%+v", *p.store))
}

// recordTape lets requests, replies of two other members, votes and time happen to a process, by a seed.
func recordTape(t *testing.T, seed uint64) *tape {
	rnd := rand.New(rand.NewPCG(seed, 1))
	tp := new(tape)
	p := newPlayed(t, tp)
	p.rand = rnd
	others := newCluster(t, 3) // of which 2 and 3 answer
	var mail []Message
	now, id := Moment{Now: 1_000_000, Mono: 1}, uint64(0)
	do := func(in func() Input) {
		tp.inputs = append(tp.inputs, in)
		p.step(in())
		mail, p.mail = append(mail, p.mail...), nil
	}
	for range 300 {
		moment := now
		moment.Full = rnd.IntN(50) == 0
		switch n := rnd.IntN(20); {
		case n < 6:
			words := [][]string{{"set", "v"}, {"get"}, {"append", "w"}, {"setnx", "x"}, {"del"}, {"append", long}, {"set", long + long}}[rnd.IntN(7)]
			args := [][]byte{[]byte(words[0]), fmt.Append(nil, "k", rnd.IntN(4))}
			for _, word := range words[1:] {
				args = append(args, []byte(word))
			}
			id++
			number, except := id, exceptions[rnd.IntN(len(exceptions))]
			do(func() Input {
				return Input{Moment: moment, Happening: Asked, Except: except,
					Request: NewRequest(&command.Request{Op: opsByName[words[0]], Args: args}, nil, number, moment.Mono)}
			})
		case n < 18 && len(mail) > 0:
			i := rnd.IntN(min(len(mail), 3))
			m := mail[i]
			mail = append(mail[:i:i], mail[i+1:]...)
			if rnd.IntN(15) == 0 {
				continue // it is lost
			}
			reply := m
			if !m.Reply {
				err := execute(others.process(m.To).acceptor, &m, &reply)
				if errors.Is(err, ErrNoRoom) {
					continue
				}
				require.NoError(t, err)
				reply = copyOf(&reply)
				reply.Found = reply.Found.Keep()
			}
			do(func() Input { return Input{Moment: moment, Happening: Replied, Reply: &reply} })
		default:
			now.Mono += int64(rnd.IntN(120))
			now.Now += int64(rnd.IntN(120))
			moment.Now, moment.Mono = now.Now, now.Mono
			do(func() Input { return Input{Moment: moment, Happening: Tick} })
		}
	}
	tp.out = append(p.out, fmt.Sprintf("%+v", *p.store))
	return tp
}
