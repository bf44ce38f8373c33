package exec

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/script"
)

// TestHowLongScriptsRun: all of a step together for a moment, by itself each as long as the node says, and no longer than anybody waits.
func TestHowLongScriptsRun(t *testing.T) {
	e := &Executor{opt: Options{ScriptTime: time.Hour}}
	over := func(b *batch) string {
		var run script.Run
		why := b.bound(&run, nil)
		require.Equal(t, why() != "" || run.Interrupted(), why() != "")
		return why()
	}
	b := &batch{exec: e}
	require.Empty(t, over(b))
	b.began = b.began.Add(-stepTime)
	require.Equal(t, errStepTime, over(b), "the next script of the same step")
	b.begin()
	require.Empty(t, over(b))

	require.Equal(t, wholeTime, (&batch{exec: e, whole: new(register.Whole)}).limit(), "everybody waits for it")
	b = &batch{exec: e}
	b.apart = true
	require.Equal(t, time.Hour, b.limit())
	require.Empty(t, over(b))
	b.dropped.Store(true)
	require.Equal(t, errDropped, over(b))
	e.opt.ScriptTime = stepTime
	b.dropped.Store(false)
	var run script.Run
	why := b.bound(&run, nil)
	require.Eventually(t, run.Interrupted, time.Minute, stepTime)
	require.Equal(t, errScriptTime(stepTime), why(), "it is not run by itself once more")
	e.opt.ScriptTime = -1
	b.dropped.Store(false)
	require.Equal(t, errScriptTime(-1), over(b))
}

// TestABatchByItselfIsItsOwn: the request that it was made of may be answered, and used again.
func TestABatchByItselfIsItsOwn(t *testing.T) {
	parsed := &command.Batch{Commands: []command.Request{{Op: command.OpEval, Args: words("EVAL script 1 a")}}, Also: words("b")}
	cmd := parsed.Request([]byte("a"), true)
	again, err := command.ParseBatch(&cmd)
	require.NoError(t, err)
	b := &batch{exec: &Executor{}, Batch: again, command: &cmd, resp3: true, crowded: true}
	apart, err := b.copied()
	require.NoError(t, err)
	for _, arg := range cmd.Args {
		clear(arg)
	}
	require.Equal(t, words("EVAL script 1 a"), apart.Commands[0].Args)
	require.Equal(t, [][]byte{[]byte("a"), []byte("b")}, apart.keys)
	require.True(t, apart.resp3 && apart.crowded && apart.apart)
}
