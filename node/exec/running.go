package exec

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
)

// shownAfter is how long a script has to run until it is shown, and can be ended. Those of others that take a moment are not what somebody wants to end who sees that one hangs.
const shownAfter = 100 * time.Millisecond

// errKilled is why a script ends that was asked to. The reply says it in Redis' words.
const errKilled = "ERR the script was killed"

// running are the scripts and functions that are run by themselves. The zero value is ready, and may be used by any goroutine.
type running struct {
	mu  sync.Mutex
	all map[*oneRunning]struct{}
}

// oneRunning is one of them.
type oneRunning struct {
	function string    // its name, empty of a script
	command  [][]byte  // of the client, as long as it is in the list
	began    time.Time // by itself
	killed   atomic.Bool
}

// add adds one, until ended is called.
func (r *running) add(one *oneRunning) (ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[*oneRunning]struct{})
	}
	r.all[one] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, one)
	}
}

// Scripts returns the scripts and functions that have been running for a tenth of a second, the oldest first, and ends those that the request asks it to. It waits for nothing.
func (e *Executor) Scripts(q protocol.ScriptsRequest) []protocol.RunningScript {
	r := &e.running
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []protocol.RunningScript
	for one := range r.all {
		since := time.Since(one.began)
		if since < shownAfter {
			continue
		}
		if q.EndScripts && one.function == "" || q.EndFunctions && one.function != "" {
			one.killed.Store(true)
		}
		list = append(list, protocol.RunningScript{Function: one.function, Command: command.Shortened(one.command), Since: since, Ended: one.killed.Load()})
	}
	slices.SortFunc(list, func(a, b protocol.RunningScript) int { return cmp.Compare(b.Since, a.Since) })
	return list
}

// running is a run of a script, or of the function of this name, for the list.
func (r *scriptRun) running(function string) *oneRunning {
	args := r.command.Args
	one := &oneRunning{function: function, command: args, began: time.Now()}
	if function != "" { // CALL code numkeys key [key ...] arg [arg ...] function
		name := command.ByOp(command.OpFCall).Name
		if r.command.Op == command.OpCallRO {
			name = command.ByOp(command.OpFCallRO).Name
		}
		one.command = slices.Concat([][]byte{[]byte(strings.ToUpper(name)), []byte(function)}, args[2:len(args)-1])
	}
	return one
}

// whyKilled makes a problem of the reply of a script that was killed.
func (b *batch) whyKilled(reply []byte) string {
	text := strings.TrimSuffix(strings.TrimPrefix(string(reply), "-"), "\r\n")
	if b.Array {
		text += " Nothing of the transaction was done."
	}
	return text
}
