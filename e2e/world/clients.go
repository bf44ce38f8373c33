package world

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/e2e/outcome"
	"github.com/quolldb/quoll/internal/history"
	"github.com/quolldb/quoll/internal/resp"
)

// client is a host with a client that waits for each answer, or sends some commands together.
type client struct {
	world    *World
	name     string
	host     *host
	random   *rand.Rand
	recorded *history.Client

	conn net.Conn // nil while it is not connected
	in   *bufio.Reader
}

const (
	// clientPatience is how long a client waits for an answer, which is longer than a proxy takes for one.
	clientPatience = 8 * time.Second
	// latestArrival is how much later than others a client may come to a bout, and mostThinking bounds the pause between two commands.
	latestArrival = 4 * time.Millisecond
	mostThinking  = 3 * time.Millisecond
	mostTurns     = 6
	// places are the keys that clients meet at, one after the other.
	places = 8
)

// work sends commands until the world has seen enough. Clients meet: at the beginning of each bout all that are not busy go to one key, so that
// what they ask for overlaps. Between bouts nobody asks for anything. Clients that come at random times would need ten
// times as many commands, and as much real time, for as many pairs of commands that overlap.
func (c *client) work() {
	for !c.world.stopped.Load() {
		bout := c.world.nextBout()
		c.random = randomOf(c.world.cfg.Seed, c.name, strconv.Itoa(bout)) // what it does there is the same when it was not at others
		sleepUntil(c.world.began.Add(time.Duration(bout)*c.world.tempo + time.Duration(c.random.Int64N(int64(latestArrival)))))
		if !c.world.cfg.Bouts.has(bout) {
			continue
		}
		for range min(1+c.random.IntN(mostTurns), c.world.cfg.Turns) {
			place := bout
			if c.random.IntN(8) == 0 {
				place = c.random.IntN(places)
			}
			c.turn(place)
			time.Sleep(time.Duration(c.random.Int64N(int64(mostThinking))))
		}
	}
}

// nextBout numbers the bouts of a world.
func (w *World) nextBout() int { return int(time.Since(w.began)/w.tempo) + 1 }

func sleepUntil(t time.Time) { time.Sleep(time.Until(t)) }

// turn sends a command on a key, or some together.
func (c *client) turn(place int) {
	together := 1
	if c.random.IntN(8) == 0 {
		together = 2 + c.random.IntN(3)
	}
	key, serial := c.world.keys.At(place, together)
	var commands []history.Command
	for at := range together {
		commands = append(commands, c.draw(key, serial, at))
	}
	c.send(commands)
}

// draw draws a command. On every sixth key some values are so long that nodes keep them in parts, in memory and on disk, and send what they have become
// ahead of the message that needs it.
func (c *client) draw(key string, serial int64, at int) history.Command {
	command := history.DrawBy(c.random, key, serial, at)
	if command.TakesAny() && serialOf(key)%6 == 0 && c.random.IntN(4) == 0 {
		command.Arg += long[:len(long)>>c.random.IntN(2)]
	}
	return command
}

// serialOf is a number that follows from a key.
func serialOf(key string) uint64 { return randomOf(0, key).Uint64() }

// long makes values long. It is what package history shows short.
var long = strings.Repeat("~", 100*300)

// send sends commands and notes what becomes of them.
func (c *client) send(commands []history.Command) {
	if c.conn == nil && !c.connect() {
		for _, command := range commands {
			c.world.keys.Ended(command.Key)
		}
		return
	}
	var calls []history.Call
	if len(commands) == 1 {
		calls = append(calls, c.recorded.Begin(commands[0]))
	} else {
		calls = c.recorded.Pipeline(commands)
	}
	var out []byte
	for _, command := range commands {
		args := command.Args()
		if c.random.IntN(6) == 0 && command.Kind != history.Incr && command.Kind != history.HIncr { // of which a script's numbers do not have all digits
			args = scripted(args)
		}
		out = resp.AppendArray(out, len(args))
		for _, arg := range args {
			out = resp.AppendBulk(out, arg.(string))
		}
	}
	_ = c.conn.SetDeadline(time.Now().Add(clientPatience))
	_, err := c.conn.Write(out)
	for _, call := range calls {
		var text string
		var isError bool
		if err == nil {
			text, isError, err = readReply(c.in)
		}
		c.conclude(call, text, isError, err)
	}
	if err != nil {
		c.hangUp()
	}
}

// scripted is a script that does what a command on one key does: a batch of that key.
func scripted(command []any) []any {
	const script = "return redis.pcall(ARGV[1], KEYS[1], unpack(ARGV, 2))"
	return slices.Concat([]any{"EVAL", script, "1", command[1], command[0]}, command[2:])
}

// conclude notes the outcome of a command.
func (c *client) conclude(call history.Call, text string, isError bool, err error) {
	w := c.world
	w.stats.Operations.Add(1)
	known := outcome.Answered
	switch {
	case err != nil:
		known, text = outcome.Unknown, err.Error()
	case isError:
		known = outcome.OfReply(text)
		if strings.HasPrefix(text, "UNKNOWN internal error") {
			w.stats.Bugs.Add(1)
		}
	}
	switch known {
	case outcome.Answered:
		w.stats.Answered.Add(1)
		call.Done(text)
	case outcome.NoEffect:
		w.stats.Refused.Add(1)
		call.NoEffect()
	case outcome.Unknown:
		w.stats.Unknown.Add(1)
		call.Unknown()
	}
	if known != outcome.Unknown || call.Command().Kind.Reads() {
		w.keys.Ended(call.Command().Key)
	}
	w.trace.add(time.Since(w.began), fmt.Sprintf("%s %v -> %s", c.name, call.Command(), strings.ReplaceAll(text, long[:300], "~")))
}

// connect connects with one of the proxies.
func (c *client) connect() bool {
	p := c.world.proxies[c.random.IntN(len(c.world.proxies))]
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := c.host.Dial(ctx, p.host.at(clientPort))
	if err != nil {
		return false
	}
	c.conn, c.in = conn, bufio.NewReader(conn)
	return true
}

func (c *client) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}
