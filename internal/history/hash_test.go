package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func field(kind Kind, fields string) Command { return Command{Kind: kind, Key: "k", Field: fields} }
func hset(fields, value string) Command {
	return Command{Kind: HSet, Key: "k", Field: fields, Arg: value}
}

func TestRightHistoriesOfHashesPass(t *testing.T) {
	r := NewRecorder()
	record(r,
		field(HGet, "f"), Nil, do(HGetAll), "", field(HMGet, "f g"), Nil+" "+Nil, field(HDel, "f"), "0",
		hset("g f", "1"), "2", do(HGetAll), "f 1 g 1", hset("g h", "2"), "1", do(HGetAll), "f 1 g 2 h 2",
		field(HIncr, "f"), "2", field(HIncr, "i"), "1", field(HMGet, "f x g"), "2 "+Nil+" 2", field(HDel, "x g h i"), "3",
		Command{Kind: HSetNX, Key: "k", Field: "f", Arg: "5"}, "0", Command{Kind: HSetNX, Key: "k", Field: "g", Arg: "x"}, "1",
		field(HIncr, "g"), FieldNotInteger, do(Get), WrongType, with(Append, "x"), WrongType, do(Incr), WrongType, with(SetNX, "x"), "0",
		ttl(PExpire, 1e6), "1", hset("f", "7"), "0", do(Persist), "1", field(HDel, "f g"), "2", do(Del), "0",
		with(Set, "x"), "OK", hset("f", "1"), WrongType, field(HGet, "f"), WrongType, do(Del), "1", hset("f", "1"), "1", with(Set, "x"), "OK", do(Get), "x")
	require.NoError(t, r.Check(time.Minute).Err())
}

func TestWrongHistoriesOfHashesAreShown(t *testing.T) {
	for name, pairs := range map[string][]any{
		"lost field":          {hset("f", "1"), "1", hset("g", "2"), "1", do(HGetAll), "g 2"},
		"half a write":        {hset("f g", "1"), "2", hset("f g", "2"), "0", field(HMGet, "f g"), "2 1"},
		"stale field":         {hset("f", "1"), "1", hset("f", "2"), "0", field(HGet, "f"), "1"},
		"counted twice":       {field(HIncr, "f"), "1", field(HGet, "f"), "2"},
		"unknown undone":      {hset("f", "1"), true, field(HGet, "f"), "1", field(HGet, "f"), Nil},
		"removed field back":  {hset("f g", "1"), "2", field(HDel, "f"), "1", field(HGet, "f"), "1"},
		"an empty hash lives": {hset("f", "1"), "1", field(HDel, "f"), "1", do(Del), "1"},
		"expiry lost":         {hset("f", "1"), "1", ttl(PExpire, 1e6), "1", hset("g", "1"), "1", do(Persist), "0"},
		"the type is another": {hset("f", "1"), "1", do(Get), Nil},
	} {
		r := NewRecorder()
		record(r, pairs...)
		require.Len(t, r.Check(time.Minute).Violations, 1, name)
	}
}

// TestWhatIsDrawnIsSentAsMeant: every command has what it needs, and long values are cut short for people.
func TestWhatIsDrawnIsSentAsMeant(t *testing.T) {
	least := map[Kind]int{HGetAll: 2, HGet: 3, HMGet: 3, HDel: 3, HSet: 4, HSetNX: 4, HIncr: 4, RPush: 3, LPush: 3, RPop: 2, LPop: 2, LMove: 5, LRem: 4, LTrim: 4,
		LRange: 4, SAdd: 3, SRem: 3, SPop: 2, SIsMember: 3, SMembers: 2, ZAdd: 4, ZIncr: 4, ZRem: 3, ZPopMin: 2, ZScore: 3, ZRange: 5}
	seen := map[Kind]bool{}
	for i := range int64(20_000) {
		c := Draw("key"+string(rune('a'+i%20)), i, 0)
		require.GreaterOrEqual(t, len(c.Args()), least[c.Kind], "%v", c)
		require.Less(t, len(c.String()), 60)
		seen[c.Kind] = true
	}
	for kind := range least {
		require.True(t, seen[kind], kind)
	}
}
