//go:build unix

package differential

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
)

// hearer is a client of a server that hears all events of keys.
type hearer struct{ *link }

// hear has a server tell of some classes of events, and returns who hears them.
func hear(t *testing.T, address, classes string) hearer {
	l, err := dial(address)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	reply, err := l.do("CONFIG", "SET", "notify-keyspace-events", classes)
	require.NoError(t, err)
	require.Equal(t, "+OK\r\n", reply)
	_, err = l.do("PSUBSCRIBE", "__key*")
	require.NoError(t, err)
	return hearer{l}
}

// next returns the next message: its channel and its payload.
func (h hearer) next() (string, error) {
	reply, err := h.reply()
	if err != nil {
		return "", err
	}
	v := parseReply(reply)
	if len(v.list) == 4 && v.list[0].text == "pmessage" {
		return fmt.Sprintf("%q %q", v.list[2].text, v.list[3].text), nil
	}
	return v.list[0].text, nil
}

// heard returns what has been heard of a command that has been answered: its messages come before the answer to what is asked afterwards.
func (h hearer) heard() (all []string, err error) {
	if err := h.send(encode([]string{"PING"})); err != nil {
		return nil, err
	}
	for {
		message, err := h.next()
		if err != nil || message == "pong" {
			return all, err
		}
		all = append(all, message)
	}
}

// bothHear is the two servers, and who hears their events.
type bothHear struct {
	player
	redis, quoll hearer
}

func startHearing(t *testing.T, classes string) *bothHear {
	s := startServers(t)
	b := &bothHear{player: player{servers: s, pairs: map[int]*pair{}}, redis: hear(t, s.redis, classes), quoll: hear(t, s.quoll, classes)}
	t.Cleanup(func() {
		for _, pair := range b.pairs {
			pair.close()
		}
	})
	return b
}

// run has both execute a command, one after the other, and returns what was answered and heard.
func (b *bothHear) run(args []string) (x exchange, redis, quoll []string, err error) {
	p, err := b.pair(1)
	if err != nil {
		return x, nil, nil, err
	}
	x = exchange{step: step{form: array, args: args}}
	if x.redis, err = p.redis.do(args...); err == nil {
		x.quoll, err = p.quoll.do(args...)
	}
	if err == nil {
		redis, err = b.redis.heard()
	}
	if err == nil {
		quoll, err = b.quoll.heard()
	}
	return x, redis, quoll, err
}

// scattered are the commands that Quoll executes at the homes of several keys at once: what is heard of one key is in order.
var scattered = []string{"DEL", "UNLINK", "EXISTS", "TOUCH", "MGET", "MSET", "PFCOUNT", "SINTER", "SUNION", "SDIFF", "SINTERCARD", "ZINTER", "ZUNION", "ZDIFF", "ZINTERCARD", "LCS", "XREAD"}

// isMiss reports whether a message is of a key that was not found.
func isMiss(message string) bool { return strings.Contains(message, "keymiss") }

// byKey sorts messages by the keys that they are about, in the order in which they were heard of each. A key that is named twice is missed once: the proxy asks for it once.
func byKey(messages []string) []string {
	key := func(message string) string {
		channel, payload, _ := strings.Cut(message, `" "`)
		if _, name, is := strings.Cut(channel, "__keyspace@0__:"); is {
			return name
		}
		return strings.TrimSuffix(payload, `"`)
	}
	sorted := slices.Clone(messages)
	slices.SortStableFunc(sorted, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	missed := map[string]bool{}
	return slices.DeleteFunc(sorted, func(message string) bool {
		again := isMiss(message) && missed[message]
		missed[message] = true
		return again
	})
}

// eventful are the commands whose events are compared, each as often as it is drawn. What depends on chance leaves other states on the two servers.
var eventful = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
	cmd := command.Lookup([]byte(name))
	return cmd.Route == command.RouteProxy && cmd.Op != command.OpXGroup || slices.Contains(waiting, name) ||
		slices.Contains([]string{"spop", "fcall", "fcall_ro", "dump", "restore", "eval", "evalsha", "eval_ro", "evalsha_ro"}, name)
})

// TestEventsSameAsRedis compares what is heard of random commands, message by message. What expires is told when that is noticed: see TestEventsOfWhatExpires.
func TestEventsSameAsRedis(t *testing.T) {
	b := startHearing(t, "KEg$lshztdnm")
	messages, commands := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t}
		for _, address := range []string{b.servers.redis, b.servers.quoll} {
			require.NoError(t, flush(address))
		}
		for range rapid.IntRange(1, 40).Draw(t, "commands") {
			name := pick(g, eventful...)
			args := append([]string{strings.ToUpper(name)}, generators[name](g)...)
			if refusal(args) != "" || slices.Contains(args, "~") {
				continue
			}
			x, redis, quoll, err := b.run(args)
			require.NoError(t, err)
			if judgement := judge(x); judgement != nil || x.redis != x.quoll && x.redis[0] == '-' {
				if errors.Is(judgement, errUnavailable) {
					t.Skip("the machine is too busy")
				}
				continue
			}
			commands, messages = commands+1, messages+len(redis)
			switch {
			case x.redis[0] == '-': // when a command looks for its keys, and when at the rest, is another matter
				redis, quoll = slices.DeleteFunc(redis, isMiss), slices.DeleteFunc(quoll, isMiss)
			case slices.Contains(scattered, x.name()):
				redis, quoll = byKey(redis), byKey(quoll)
			}
			require.Equal(t, strings.Join(redis, "\n"), strings.Join(quoll, "\n"), "%v\nRedis: %.200q\nQuoll: %.200q", x.step, x.redis, x.quoll)
		}
	})
	t.Logf("%d messages of %d commands compared", messages, commands)
}
