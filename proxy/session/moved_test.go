package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/ring"
)

// anotherNode is a topology in which another node is the home of one slot.
type anotherNode struct {
	threeProxies
	slot uint16
}

func (a anotherNode) Elsewhere(slot uint16) (string, bool) { return "10.0.0.2:6379", slot == a.slot }

// Holds implements Topology: it has a replica of every slot.
func (anotherNode) Holds(uint16) bool { return true }

// TestMoved: a command on keys of one slot is not executed here if another node is the home of it. All else is.
func TestMoved(t *testing.T) {
	slot := ring.SlotOf([]byte("{a}"))
	_, addr := startServer(t, Config{Topology: anotherNode{slot: slot}}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	moved := fmt.Sprintf("-MOVED %d 10.0.0.2:6379\r\n", slot)
	for _, line := range []string{
		"SET {a}1 v", "GET {a}1", "MSET {a}1 v {a}2 v", "MGET {a}1 {a}2", "DEL {a}1", "EVAL return(1) 1 {a}1", "SUNION {a}1 {a}2", "BLPOP {a}1 {a}2 0", "XREAD STREAMS {a}1 0",
		"RENAME {a}1 {a}2", "SORT {a}1", "EXISTS {a}1", "OBJECT ENCODING {a}1", "PFCOUNT {a}1", "XGROUP CREATE {a}1 g $",
	} {
		require.Equal(t, moved, c.Do(line), line)
	}
	require.Equal(t, ":0\r\n", c.Do("DBSIZE"), "none was executed")
	require.Contains(t, c.Do("INFO errorstats"), "errorstat_MOVED:count=15")
	for _, test := range [][2]string{
		{"SET b v", "+OK\r\n"}, {"MSET {a}1 v b w", "+OK\r\n"}, {"GET b", "$1\r\nw\r\n"}, {"PUBLISH {a}1 x", ":0\r\n"}, {"SPUBLISH {a}1 x", ":0\r\n"}, {"CLUSTER KEYSLOT {a}1", fmt.Sprintf(":%d\r\n", slot)},
		{"EVAL return(1) x {a}1", "-ERR value is not an integer or out of range\r\n"},
		{"OBJECT NONSENSE {a}1", "-ERR unknown subcommand 'NONSENSE'. Try OBJECT HELP.\r\n"},
		{"GET", "-ERR wrong number of arguments for 'get' command\r\n"},
		{"WATCH {a}1", "+OK\r\n"}, {"MULTI", "+OK\r\n"}, {"GET {a}1", "+QUEUED\r\n"}, {"EXEC", "*1\r\n$1\r\nv\r\n"},
	} {
		require.Equal(t, test[1], c.Do(test[0]), test[0])
	}
}
