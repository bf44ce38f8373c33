package session

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/algebra"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestLargeSetsAreReadOneAfterTheOther: what is small is read once, what is large only after it was said how large it is, and what is too large, or has become so, never.
func TestLargeSetsAreReadOneAfterTheOther(t *testing.T) {
	proxytest.EachWay(t, testLargeSets)
}

func testLargeSets(t *testing.T, w proxytest.Way) {
	weights := map[string]int{"small": 100, "large": 50 << 20, "large2": 60 << 20, "huge": 100 << 20, "grows": 2 << 20}
	var lock sync.Mutex
	reads := map[string][]int{}
	cluster := proxytest.NewCluster()
	cluster.Intercept = func(op *route.Op) bool {
		if op.Req.Op != command.OpMembers {
			return false
		}
		lock.Lock()
		defer lock.Unlock()
		key := string(op.Req.Args[1])
		limit, err := strconv.Atoi(string(op.Req.Args[3]))
		if err != nil {
			return false
		}
		weight, there := weights[key]
		if key == "grows" && len(reads[key]) > 0 {
			weight = 200 << 20
		}
		reads[key] = append(reads[key], limit)
		switch op.Outcome = answer.Done; {
		case !there:
			op.Reply = resp.AppendNull(nil, false)
		case weight > limit:
			op.Reply = resp.AppendInt(nil, int64(weight))
		default:
			op.Reply = resp.AppendBulk(nil, algebra.AppendMember(algebra.AppendMember(algebra.AppendSet(nil), []byte("both")), []byte(key)))
		}
		return true
	}
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	for _, step := range []struct {
		command, reply string
		reads          map[string][]int
	}{
		{"SINTER small small", "*2\r\n$4\r\nboth\r\n$5\r\nsmall\r\n", map[string][]int{"small": {gatherAtOnce}}},
		{"SDIFF small none", "*2\r\n$4\r\nboth\r\n$5\r\nsmall\r\n", map[string][]int{"small": {gatherAtOnce / 2}, "none": {gatherAtOnce / 2}}},
		{"SINTERCARD 2 small large", ":1\r\n", map[string][]int{"small": {gatherAtOnce / 2}, "large": {gatherAtOnce / 2, gatherMost - algebra.Weight(12, 2)}}},
		{"SINTER large large2", "*1\r\n$4\r\nboth\r\n", nil},
		{"SUNION large huge", "-" + errGatherMost(150<<20).Error() + "\r\n", map[string][]int{"large": {gatherAtOnce / 2}, "huge": {gatherAtOnce / 2}}},
		{"SUNION grows", "-" + errGatherMost(200<<20).Error() + "\r\n", nil},
		{"PING", "+PONG\r\n", map[string][]int{}},
	} {
		clear(reads)
		require.Equal(t, step.reply, c.Do(step.command), step.command)
		if step.reads != nil {
			require.Equal(t, step.reads, reads, step.command)
		}
	}
}
