package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheInnermostFunctionThatDecidesSaysTheStage: copying memory is work of whoever copies, and the longest rule is the most exact one.
func TestTheInnermostFunctionThatDecidesSaysTheStage(t *testing.T) {
	for want, stack := range map[string][]string{
		"sockets":           {"internal/runtime/syscall.Syscall6", "syscall.RawSyscall", module + "/internal/rawio.transfer", module + "/internal/wire.(*writer).run"},
		"frames":            {"runtime.memmove", module + "/internal/wire.(*writer).add", module + "/node/replica.(*Round).send"},
		"scheduler":         {"internal/runtime/syscall.Syscall6", "internal/runtime/syscall.EpollWait", "runtime.netpoll", "runtime.findRunnable", "runtime.mcall"},
		"parse":             {module + "/internal/resp.(*parser).parse", module + "/proxy/front.(*loop).run"},
		"reply":             {module + "/internal/resp.AppendBulk[go.shape.string]", module + "/proxy/session.(*Session).get"},
		"allocate, collect": {"runtime.memclrNoHeapPointers", "runtime.mallocgcSmallNoscan", module + "/node/register.(*Home).Propose"},
		other:               {"somebody.else"},
	} {
		require.Equal(t, want, stageOf(stack), "%v", stack)
	}
	require.Equal(t, other, stageOf(nil))
}

func TestEveryRuleSaysAStageOfTheTable(t *testing.T) {
	for function, stage := range rules {
		require.Contains(t, stages, stage, function)
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(stages))), len(stages))
}

// pprofWrote is what `go tool pprof -traces -unit=ms` writes.
const pprofWrote = `File: quoll
Type: cpu
Duration: 4s, Total samples = 200ms
-----------+-------------------------------------------------------
     60ms   runtime.memmove
             github.com/quolldb/quoll/internal/wire.(*writer).add (inline)
             main.main
-----------+-------------------------------------------------------
    100ms   github.com/quolldb/quoll/node/engine/table.find
-----------+-------------------------------------------------------
     40ms   somebody.else
             main.main
-----------+-------------------------------------------------------
`

func TestSharesAreThoseOfStages(t *testing.T) {
	got, err := sharesOf(pprofWrote)
	require.NoError(t, err)
	require.InDeltaMapValues(t, map[string]float64{"frames": 0.3, "engine": 0.5, other: 0.2}, got, 1e-9)
	for _, wrong := range []string{"", "File: quoll\n", "-----\n  xms   f\n-----\n"} {
		_, err := sharesOf("File: quoll\n" + wrong)
		require.Error(t, err, "%q", wrong)
	}
}

func TestTableOfABudget(t *testing.T) {
	p := &plan{keys: 1000, connections: 50, value: 64, duration: time.Second, depths: []int{1, 16}, date: time.Unix(1e9, 0), machine: "a machine", cmd: "make bench-budget"}
	page := p.budgetPage([]budget{
		{figure{"SET", 16}, 1.5, 0.25, side{CPU: 1, Floor: 0.25, Reads: 0.5, Writes: 0.125, ReadBytes: 100, WrittenBytes: 200, Stages: map[string]float64{"sockets": 0.75, "parse": 0.25}},
			side{CPU: 3, Floor: 0.5, Stages: map[string]float64{"sockets": 1, "register": 1.875, other: 0.125}}},
		{figure{"GET", 16}, 1, 0, side{CPU: 1, Stages: map[string]float64{other: 0.5}}, side{CPU: 1}},
	})
	for _, line := range []string{
		"| depth 16 | SET proxy | SET nodes | GET proxy | GET nodes |",
		"| sockets | 0.75 | 1.00 | 0.00 | 0.00 |", "| register | 0.00 | 1.88 | 0.00 | 0.00 |", "| **all** | **1.00** | **3.00** | **1.00** | **1.00** |",
		"| floor: the same reads and writes alone | 0.25 | 0.50 | 0.00 | 0.00 |", "| reads, writes for each operation | 0.500, 0.125 | 0.000, 0.000 | 0.000, 0.000 | 0.000, 0.000 |",
		"- SET at depth 16: 4.00 µs, a redis-server 1.50 µs, the floor 0.75 µs; other programs had 25 % of the machine. Most take: register 1.88, sockets 1.75, parse 0.25, other 0.12.",
		"- GET at depth 16: 2.00 µs, a redis-server 1.00 µs, the floor 0.00 µs; other programs had 0 % of the machine. Most take: other 0.50, sockets 0.00, parse 0.00, session, commands 0.00. **25 % has no stage.**",
	} {
		require.Contains(t, page, line+"\n")
	}
	require.NotContains(t, page, "depth 1 |", "nothing was measured at it")
}

// TestTablesReplaceThoseInThePage, and leave the rest of it alone.
func TestTablesReplaceThoseInThePage(t *testing.T) {
	page, err := between("before\n"+pageBegins("bench-budget")+"old\n"+pageEnds+"after\n", pageBegins("bench-budget"), pageEnds, "new\n")
	require.NoError(t, err)
	require.Equal(t, "before\n"+pageBegins("bench-budget")+"new\n"+pageEnds+"after\n", page)
	for _, wrong := range []string{"", pageBegins("bench-budget"), pageEnds + pageBegins("bench-budget")} {
		_, err := between(wrong, pageBegins("bench-budget"), pageEnds, "new\n")
		require.Error(t, err)
	}
}
