//go:build unix

package differential

import (
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/ring"
)

// transaction draws one of a connection, on keys of one slot; now and then with a key that is watched, which another connection may change.
func (g *generator) transaction(conn int, joined bool) (all script) {
	add := func(conn int, args ...string) {
		all = append(all, step{conn: conn, form: array, args: args, joined: joined})
	}
	commands := g.queued()
	watched := ""
	for _, args := range commands {
		if keys := keysOf(args); watched == "" && len(keys) > 0 {
			watched = keys[0]
		}
	}
	if watched != "" && g.chance(40) {
		add(conn, g.word("WATCH"), watched)
		if g.chance(50) {
			add(1+conn%connections, g.command()...)
		}
		if g.chance(10) {
			add(conn, "UNWATCH")
		}
	}
	add(conn, g.word("MULTI"))
	for _, args := range commands {
		add(conn, args...)
	}
	add(conn, pick(g, "EXEC", "EXEC", "EXEC", "EXEC", "exec", "DISCARD"))
	return all
}

// queued draws commands that may be together in a transaction: on keys of one slot, and none that Quoll refuses.
func (g *generator) queued() (commands [][]string) {
	slot := -1
	for range 1 + g.intn(8) {
		args := g.command()
		cmd := command.Lookup([]byte(args[0]))
		if refusal(args) != "" || !together(cmd) {
			continue
		}
		fits := true
		for _, key := range keysOf(args) {
			if slot < 0 {
				slot = int(ring.SlotOf([]byte(key)))
			}
			fits = fits && slot == int(ring.SlotOf([]byte(key)))
		}
		if fits {
			commands = append(commands, args)
		}
	}
	return commands
}

// together reports whether a command on keys can be in a transaction, or one of the proxy that has the same reply there.
func together(cmd *command.Command) bool {
	switch cmd.Op {
	case command.OpPing, command.OpEcho, command.OpUnwatch, command.OpReadOnly:
		return true
	}
	return cmd.Route != command.RouteProxy && cmd.Route != command.RouteCluster
}

// keysOf returns the keys of a command.
func keysOf(args []string) (keys []string) {
	list := make([][]byte, len(args))
	for i := range args {
		list[i] = []byte(args[i])
	}
	cmd := command.Lookup(list[0])
	if cmd == nil || !cmd.ArityOK(len(list)) {
		return nil
	}
	found, _ := cmd.AllKeys(list)
	for _, key := range found {
		keys = append(keys, string(key))
	}
	return keys
}

// transactions knows what a connection has queued.
type transactions struct{ queue script }

// take returns what an exchange is judged by: the commands of EXEC, each with its replies, or the exchange itself.
func (t *transactions) take(x exchange) []exchange {
	queue := t.queue
	switch {
	case x.redis == "+QUEUED\r\n":
		t.queue = append(t.queue, x.step)
	case x.name() == "EXEC", x.name() == "DISCARD", x.name() == "RESET", x.name() == "MULTI" && x.redis == "+OK\r\n":
		t.queue = nil
	}
	redis, quoll := elements(x.redis), elements(x.quoll)
	if x.name() != "EXEC" || x.redis == x.quoll || len(redis) != len(queue) || len(quoll) != len(queue) {
		return []exchange{x}
	}
	all := make([]exchange, len(queue))
	for i := range queue {
		all[i] = x
		all[i].step, all[i].redis, all[i].quoll = queue[i], redis[i], quoll[i]
	}
	return all
}

// elements returns the replies that an array has.
func elements(reply string) (all []string) {
	header, rest, _ := strings.Cut(reply, "\r\n")
	if !strings.HasPrefix(header, "*") {
		return nil
	}
	for {
		size := resp.Size([]byte(rest))
		if size == 0 {
			return all
		}
		all, rest = append(all, rest[:size]), rest[size:]
	}
}
