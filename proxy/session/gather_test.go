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

// TestKeysOfOneSlotAreReadTogether: in one operation, and if that says that some of them are large, once more in one operation.
func TestKeysOfOneSlotAreReadTogether(t *testing.T) {
	proxytest.EachWay(t, testReadTogether)
}

func testReadTogether(t *testing.T, w proxytest.Way) {
	weights := map[string]int{"{t}small": 100, "{t}large": 50 << 20, "{t}large2": 60 << 20, "{t}huge": 100 << 20, "{t}grows": 2 << 20, "{t}grows2": 2 << 20}
	var lock sync.Mutex
	var reads [][]string // the keys of each operation
	cluster := proxytest.NewCluster()
	cluster.Intercept = func(op *route.Op) bool {
		lock.Lock()
		defer lock.Unlock()
		b, err := command.ParseBatch(&op.Req)
		if op.Outcome = answer.Done; op.Write || err != nil || !b.Array {
			reads, op.Reply = append(reads, nil), []byte("-ERR this is not read together\r\n")
			return true
		}
		var keys []string
		op.Reply = resp.AppendArray(nil, len(b.Commands))
		for i := range b.Commands {
			key := string(b.Commands[i].Args[1])
			keys = append(keys, key)
			op.Reply = readInTogether(op.Reply, &b.Commands[i], weights, len(reads) > 0 && key == "{t}grows")
		}
		reads = append(reads, keys)
		return true
	}
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	small, none := []string{"{t}small"}, "{t}none"
	for _, step := range []struct {
		command, reply string
		reads          [][]string
	}{
		{"SDIFF {t}small {t}none {t}small", "*0\r\n", [][]string{append(small, none)}},
		{"SDIFF {t}small {t}none", "*2\r\n$4\r\nboth\r\n$8\r\n{t}small\r\n", [][]string{append(small, none)}},
		{"ZINTERCARD 2 {t}small {t}large", ":1\r\n", [][]string{{"{t}small", "{t}large"}, {"{t}small", "{t}large"}}},
		{"SINTER {t}large {t}large2", "*1\r\n$4\r\nboth\r\n", [][]string{{"{t}large", "{t}large2"}, {"{t}large", "{t}large2"}}},
		{"SUNION {t}large {t}huge", "-" + errGatherMost(150<<20).Error() + "\r\n", [][]string{{"{t}large", "{t}huge"}}},
		{"SUNION {t}grows {t}grows2", "-" + errGatherMost(199<<20).Error() + "\r\n", [][]string{{"{t}grows", "{t}grows2"}, {"{t}grows", "{t}grows2"}}},
		{"SINTER {t}small {t}text", "-WRONGTYPE it is a string\r\n", [][]string{{"{t}small", "{t}text"}}},
		{"LCS {t}text {t}text2", "$4\r\ntext\r\n", [][]string{{"{t}text", "{t}text2"}}},
		{"LCS {t}text {t}small", "-" + errNotStrings.Error() + "\r\n", [][]string{{"{t}text", "{t}small"}}},
	} {
		lock.Lock()
		reads = nil
		lock.Unlock()
		require.Equal(t, step.reply, c.Do(step.command), step.command)
		lock.Lock()
		require.Equal(t, step.reads, reads, step.command)
		lock.Unlock()
	}
}

// readInTogether appends what a node replies to one of the reads of a batch.
func readInTogether(dst []byte, req *command.Request, weights map[string]int, grown bool) []byte {
	key := string(req.Args[1])
	weight, there := weights[key]
	text := key[:min(len(key), 7)] == "{t}text"
	if req.Op == command.OpGet {
		if there {
			return append(dst, "-WRONGTYPE it is a set\r\n"...)
		}
		return resp.AppendBulk(dst, key[len("{t}"):])
	}
	limit, _ := strconv.Atoi(string(req.Args[3]))
	if grown {
		weight = 198 << 20
	}
	switch {
	case text:
		return append(dst, "-WRONGTYPE it is a string\r\n"...)
	case !there:
		return resp.AppendNull(dst, false)
	case weight > limit:
		return resp.AppendInt(dst, int64(weight))
	}
	return resp.AppendBulk(dst, algebra.AppendMember(algebra.AppendMember(algebra.AppendSet(nil), []byte("both")), []byte(key)))
}

// TestWhatIsReadTogetherIsTakenApart, and what is not as it has to be is refused.
func TestWhatIsReadTogetherIsTakenApart(t *testing.T) {
	get := func(key string) command.Request {
		return command.Request{Op: command.OpGet, Args: [][]byte{getName, []byte(key)}}
	}
	whole := readTogether([]command.Request{get("a"), get("b")})
	for reply, want := range map[string][]string{
		"*2\r\n$1\r\nx\r\n$-1\r\n":   {"$1\r\nx\r\n", "$-1\r\n"},
		"*2\r\n:1\r\n-WRONGTYPE\r\n": {":1\r\n", "-WRONGTYPE\r\n"},
		"-ERR no\r\n":                {"-ERR no\r\n"},
		"*1\r\n:1\r\n":               {"-" + errPieces.Error() + "\r\n"},
		"*3\r\n:1\r\n:1\r\n:1\r\n":   {"-" + errPieces.Error() + "\r\n"},
		"*-1\r\n":                    {"-" + errPieces.Error() + "\r\n"},
		":1\r\n":                     {"-" + errPieces.Error() + "\r\n"},
	} {
		var got []string
		for _, op := range partsOf([]route.Op{{Req: whole, Outcome: answer.Done, Reply: []byte(reply)}}) {
			got = append(got, string(op.Reply))
		}
		require.Equal(t, want, got, "%q", reply)
	}
}
