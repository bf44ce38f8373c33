package exec

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
)

// TestWhichScriptsAreShownAndEnded: those that have been running for a while, of the kind that is meant.
func TestWhichScriptsAreShownAndEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Executor{}
		begin := func(function, op string, args ...string) (one *oneRunning, ended func()) {
			cmd := command.Request{Op: command.Lookup([]byte(op)).Op}
			if function != "" {
				cmd.Op = command.OpCallRO
			}
			for _, arg := range args {
				cmd.Args = append(cmd.Args, []byte(arg))
			}
			one = (&scriptRun{command: &cmd}).running(function)
			return one, e.running.add(one)
		}
		require.Empty(t, e.Scripts(protocol.ScriptsRequest{EndScripts: true, EndFunctions: true}))
		function, functionEnded := begin("f", "fcall_ro", "CALL", "code", "1", "key", "arg", "f")
		time.Sleep(shownAfter / 2)
		script, scriptEnded := begin("", "eval", "EVAL", string(make([]byte, 200)), "0")
		time.Sleep(shownAfter/2 - 1)
		require.Empty(t, e.Scripts(protocol.ScriptsRequest{EndScripts: true, EndFunctions: true}), "they may be ready in a moment")
		time.Sleep(time.Nanosecond)
		require.Equal(t, []protocol.RunningScript{{Function: "f", Command: words("FCALL_RO f 1 key arg"), Since: shownAfter}}, e.Scripts(protocol.ScriptsRequest{EndScripts: true}))
		time.Sleep(shownAfter)
		list := e.Scripts(protocol.ScriptsRequest{EndScripts: true})
		require.Len(t, list, 2)
		require.Equal(t, [2]bool{false, true}, [2]bool{list[0].Ended, list[1].Ended})
		require.Equal(t, string(make([]byte, 128))+"... (72 more bytes)", string(list[1].Command[1]))
		require.True(t, script.killed.Load() && !function.killed.Load())
		scriptEnded()
		require.Len(t, e.Scripts(protocol.ScriptsRequest{EndFunctions: true}), 1)
		require.True(t, function.killed.Load())
		functionEnded()
		require.Empty(t, e.Scripts(protocol.ScriptsRequest{}))
	})
}
