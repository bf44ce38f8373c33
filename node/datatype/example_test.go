package datatype_test

import (
	"fmt"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// The home of a slot runs a command once: what comes of it is a reply, and an effect. Another replica, which has the same state, is
// sent the effect's delta, and has the new state then.
func Example() {
	const now = 1_700_000_000_000
	st := record.State{Type: record.String, Value: []byte(strings.Repeat("-", 1000))}
	req := &command.Request{Op: command.OpSetRange, Args: [][]byte{[]byte("SETRANGE"), []byte("key"), []byte("3"), []byte("abc")}}
	reply, effect := datatype.Execute(nil, st, req, now)
	fmt.Printf("reply %q, a delta of %d bytes\n", reply, len(effect.Delta))

	replica, err := datatype.Apply(st, effect.Delta)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s… at the home, %s… at the replica\n", effect.State.Value[:8], replica.Value[:8])
	// Output:
	// reply ":1000\r\n", a delta of 8 bytes
	// ---abc--… at the home, ---abc--… at the replica
}

// A change of a large hash shares what it does not touch with the hash before it.
func ExampleLive() {
	var args [][]byte
	for _, word := range []string{"HSET", "key"} {
		args = append(args, []byte(word))
	}
	for i := range 1000 {
		args = append(args, fmt.Append(nil, "field", i), []byte("value"))
	}
	_, effect := datatype.Execute(nil, record.State{}, &command.Request{Op: command.OpHSet, Args: args}, 1)
	sent := effect.State.Packed() // from one node to another it is bytes
	live, ok := datatype.Live(sent)
	fmt.Println(ok, len(sent.Value) == live.Object.Size())
	// Output: true true
}
