package datatype

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// TestTooLongIsRefusedBeforeItTakesMemory: a command of some bytes must not take hundreds of megabytes first.
func TestTooLongIsRefusedBeforeItTakesMemory(t *testing.T) {
	const most = 1 << 20
	for line, want := range map[string]string{
		"setrange k 1048576 x":                "-" + ErrTooLong,
		"setrange k 1048575 x":                ":1048576",
		"setrange k 536870911 x":              "-" + ErrTooLong,
		"setbit k 8388607 1":                  ":0",
		"setbit k 8388608 1":                  "-" + errBitOffset,
		"setbit k 4294967295 1":               "-" + errBitOffset,
		"getbit k 8388608":                    "-" + errBitOffset,
		"bitfield k set u8 8388600 1":         "*1\r\n:0",
		"bitfield k set u8 8388601 1":         "-" + errBitOffset,
		"bitfield k set u8 4294967288 1":      "-" + errBitOffset,
		"bitfield k incrby u63 #133153 1":     "-" + errBitOffset,
		"bitfield k get u8 0 set u8 #1048576": "-" + errSyntax,
	} {
		words := strings.Fields(line)
		var args [][]byte
		for _, word := range words {
			args = append(args, []byte(word))
		}
		req := command.Request{Op: command.Lookup(args[0]).Op, Args: args, MaxValue: most}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		reply, effect := Execute(nil, record.State{}, &req, 1)
		runtime.ReadMemStats(&after)
		require.Equal(t, want+"\r\n", string(reply), line)
		require.LessOrEqual(t, effect.State.Size(), most, line)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*most), line)
	}
	appended := command.Request{Op: command.OpAppend, Args: [][]byte{nil, nil, make([]byte, 100)}, MaxValue: most}
	reply, _ := Execute(nil, record.State{Type: record.String, Value: make([]byte, most-99)}, &appended, 1)
	require.Equal(t, "-"+ErrTooLong+"\r\n", string(reply))
}
