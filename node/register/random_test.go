package register

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEveryRequestIsAnsweredExactlyOnce: whatever is delivered, lost, delivered
// twice or late, whoever fights for the slot, whatever fails. Requests and key states come from
// pools and go back there: process.Answer notices one that is answered after that.
func TestEveryRequestIsAnsweredExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t, 3)
		var requests []*asked
		epoch := uint64(1)
		member := rapid.Uint16Range(1, 3)
		ask := func(t *rapid.T) {
			key := rapid.IntRange(0, 12).Draw(t, "key") // enough for the index of a keySet
			words := rapid.SampledFrom([]string{"get k%d", "set k%d v", "append k%d v", "setnx k%d v", "del k%d", "psetex k%d 5 v", "psetex k%d x v"}).Draw(t, "command")
			requests = append(requests, c.give(member.Draw(t, "home"), fmt.Sprintf(words, key), rapid.SampledFrom(exceptions).Draw(t, "except")))
		}
		deliver := func(t *rapid.T) {
			if len(c.mail) > 0 {
				c.deliverNth(rapid.IntRange(0, len(c.mail)-1).Draw(t, "message"), rapid.IntRange(0, 9).Draw(t, "fate"))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask":       ask,
			"ask more":  ask,
			"deliver":   deliver,
			"deliver 2": deliver,
			"run":       func(*rapid.T) { c.run() },
			"clear":     func(t *rapid.T) { requests = append(requests, c.ask(member.Draw(t, "home"), "clear")) },
			"own reply": func(t *rapid.T) {
				if p := c.process(member.Draw(t, "member")); len(p.loop) > 0 {
					m := p.loop[0]
					p.loop = p.loop[1:]
					p.reply(&m)
				}
			},
			"advance": func(t *rapid.T) { c.advance(rapid.Int64Range(1, 250).Draw(t, "time")) },
			"health": func(t *rapid.T) {
				c.dead[member.Draw(t, "member")] = rapid.Bool().Draw(t, "dead")
				c.stable[1] = rapid.Bool().Draw(t, "stable")
			},
			"epoch": func(t *rapid.T) {
				members := rapid.SampledFrom([][]uint16{{1, 2, 3}, {3, 1}, {2, 3, 1}, {2}}).Draw(t, "members")
				epoch++
				for id := uint16(1); id <= 3; id++ {
					c.process(id).learn(NewConfig(epoch, members, nil))
				}
			},
			"break": func(t *rapid.T) {
				if rapid.IntRange(0, 19).Draw(t, "rarely") == 0 {
					c.process(member.Draw(t, "member")).store.failed = errors.New("broken")
				}
			},
		})
		c.lose()
		for range 3 { // nobody hears from anybody any more
			c.advance(testTiming.Request + 1)
			c.lose()
		}
		for _, a := range requests {
			require.Len(t, a.answers, 1, a.command)
		}
		for id := uint16(1); id <= 3; id++ {
			require.Zero(t, c.home(id).doubt)
			require.Zero(t, c.home(id).reads)
			require.Empty(t, c.home(id).parked)
		}
	})
}

// deliverNth delivers one of the messages that are on their way, mostly.
func (c *cluster) deliverNth(n, fate int) {
	m := c.mail[n]
	if fate > 0 { // else it stays there, and is delivered again
		c.mail = append(c.mail[:n], c.mail[n+1:]...)
	}
	if fate < 9 {
		c.deliver(m)
	}
}
