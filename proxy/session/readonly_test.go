package session

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// TestReadOnlyReadsTheNearest: which operations may be answered by one replica.
func TestReadOnlyReadsTheNearest(t *testing.T) {
	cluster := proxytest.NewCluster()
	var seen sync.Mutex
	var near []bool
	cluster.Before = func(b *route.Batch) {
		seen.Lock()
		defer seen.Unlock()
		for i := range b.Ops {
			near = append(near, b.Ops[i].Nearest)
		}
	}
	_, addr := startServer(t, Config{Topology: threeProxies{}}, cluster)
	c := proxytest.Dial(t, addr)
	for _, step := range []struct {
		line string
		want []bool // of its operations
	}{
		{"GET a", []bool{false}},
		{"READONLY", nil},
		{"GET a", []bool{true}},
		{"SET a v", []bool{false}},
		{"EXISTS a", []bool{true}},
		{"MGET a b", []bool{true, true}},
		{"DEL a b", []bool{false, false}},
		{"MULTI", nil}, {"GET a", nil}, {"EXEC", []bool{false}},
		{"WATCH a", []bool{false}}, {"GET a", []bool{false}}, {"UNWATCH", nil}, {"GET a", []bool{true}},
		{"HELLO 3", nil}, {"CLIENT TRACKING on", nil}, {"GET a", []bool{false}}, {"CLIENT TRACKING off", nil}, {"GET a", []bool{true}},
		{"READWRITE", nil}, {"GET a", []bool{false}},
		{"READONLY", nil}, {"RESET", nil}, {"GET a", []bool{false}},
	} {
		seen.Lock()
		near = nil
		seen.Unlock()
		c.Do(step.line)
		seen.Lock()
		require.Equal(t, step.want, near, step.line)
		seen.Unlock()
	}
}

// TestReadOnlyIsServedByAReplica: what reads is executed here, though another node is the home of the slot, if this one has a replica of it.
func TestReadOnlyIsServedByAReplica(t *testing.T) {
	slot := ring.SlotOf([]byte("{a}"))
	_, addr := startServer(t, Config{Topology: anotherNode{slot: slot}}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	moved := fmt.Sprintf("-MOVED %d 10.0.0.2:6379\r\n", slot)
	require.Equal(t, moved, c.Do("GET {a}"))
	require.Equal(t, "+OK\r\n", c.Do("READONLY"))
	require.Equal(t, "$-1\r\n", c.Do("GET {a}"))
	require.Equal(t, moved, c.Do("SET {a} v"))
	require.Equal(t, moved, c.Do("EVAL return(1) 1 {a}"))
	require.Equal(t, "+OK\r\n", c.Do("READWRITE"))
	require.Equal(t, moved, c.Do("GET {a}"))

	_, addr = startServer(t, Config{Topology: emptyNode{anotherNode{slot: slot}}}, proxytest.NewCluster())
	c = proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", c.Do("READONLY"))
	require.Equal(t, moved, c.Do("GET {a}"), "it has no replica")
}

// emptyNode is another node that has no replica of anything.
type emptyNode struct{ anotherNode }

func (emptyNode) Holds(uint16) bool { return false }
