package datatype

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
)

// told executes commands on a keyspace of two keys, of which the first has expired, and returns what is told.
func told(t *testing.T, how func(k *Keyspace), commands ...string) (all []string) {
	k := NewKeyspace([][]byte{[]byte("a"), []byte("b")}, make([]record.State, 2), testNow, func(req *command.Request) { req.MaxValue = 100 })
	l := notify.List{Wanted: notify.All | notify.New | notify.Missed}
	k.Tell(&l, []bool{true, false})
	for _, words := range commands {
		var args [][]byte
		for _, word := range strings.Fields(words) {
			args = append(args, []byte(word))
		}
		k.Execute(nil, &command.Request{Op: command.Lookup(args[0]).Op, Args: args})
	}
	if how != nil {
		how(k)
	}
	k.TellRest()
	events, _ := notify.Cut(l.Before(nil, 0))
	for e := range notify.Events(events) {
		all = append(all, string(e.Name)+" "+string(e.Key))
	}
	return all
}

// TestEventsOfAKeyspace: what is taken back is not told; that a key has expired is, once, when a command looks at it, or at the end.
func TestEventsOfAKeyspace(t *testing.T) {
	long := strings.Repeat("x", 101)
	for _, c := range []struct {
		commands []string
		how      func(k *Keyspace)
		want     []string
	}{
		{nil, nil, []string{"expired a"}},
		{[]string{"SET b x", "GET a", "GET a", "SET a y"}, nil, []string{"new b", "set b", "expired a", "keymiss a", "keymiss a", "new a", "set a"}},
		{[]string{"SET b x", "MSET b y a " + long, "APPEND a y"}, nil, []string{"new b", "set b", "expired a", "new a", "append a"}},
		{[]string{"SET b x", "LPUSH b y", "RENAME b a"}, nil, []string{"new b", "set b", "expired a", "new a", "rename_from b", "rename_to a"}},
		{[]string{"SET b x", "GET a"}, func(k *Keyspace) { k.Untell([]bool{true, false}) }, []string{"expired a"}},
	} {
		require.Equal(t, c.want, told(t, c.how, c.commands...), c.commands)
	}
}

// TestNoEventsOfQuollsOwnKeys: nobody is told of them, nor of what is flushed.
func TestNoEventsOfQuollsOwnKeys(t *testing.T) {
	for _, req := range []command.Request{
		{Op: command.OpSet, Args: [][]byte{[]byte("SET"), []byte("\xffquoll:\x00own"), []byte("x")}},
		{Op: command.OpFlushKey, Args: [][]byte{[]byte("flushkey"), []byte("k")}, Expired: true},
	} {
		req.Events = notify.All
		l := notify.List{Wanted: notify.All}
		reply, effect := Execute(nil, record.State{}, &req, testNow)
		Look(record.State{}, &req).Tell(&l, &req, reply, &effect)
		require.Zero(t, l.Len())
	}
}
