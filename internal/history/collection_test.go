package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func zadd(member string, score int64) Command {
	return Command{Kind: ZAdd, Key: "k", Arg: member, Score: score}
}

func TestRightHistoriesOfElementsPass(t *testing.T) {
	for name, pairs := range map[string][]any{
		"a queue": {do(LPop), Nil, do(LMove), Nil, do(LTrim), "OK", do(LRange), "", with(RPush, "a b"), "2", with(LPush, "c d"), "4", do(LRange), "d c a b",
			do(LMove), "d", do(RPop), "d", do(LPop), "c", with(LRem, "x"), "0", with(RPush, "a"), "3", with(LRem, "a"), "1", do(LRange), "b a", do(LTrim), "OK",
			do(Get), WrongType, ttl(PExpire, 1e6), "1", with(RPush, "e"), "2", do(Persist), "1", do(LPop), "a", do(LPop), "e", do(Del), "0", with(SetNX, "x"), "1",
			do(LPop), WrongType},
		"a set": {do(SPop), Nil, do(SMembers), "", with(SAdd, "b a"), "2", with(SAdd, "a c"), "1", do(SMembers), "c b a", with(SIsMember, "a"), "1", with(SRem, "a x"), "1",
			with(SIsMember, "a"), "0", do(SPop), "c", do(LPop), WrongType, do(SPop), "b", do(Del), "0"},
		"a sorted set": {do(ZPopMin), "", do(ZRange), "", zadd("b", 2), "1", zadd("c", 1), "1", zadd("a", 2), "1", do(ZRange), "c 1 a 2 b 2", zadd("c", 3), "0",
			with(ZIncr, "a"), "3", with(ZIncr, "d"), "1", with(ZScore, "a"), "3", with(ZScore, "x"), Nil, do(ZPopMin), "d 1", do(ZRange), "b 2 a 3 c 3",
			with(ZRem, "a"), "1", with(ZRem, "a"), "0", do(HGetAll), WrongType, do(ZPopMin), "b 2", do(ZPopMin), "c 3", do(Del), "0"},
		"an unknown pop took it":           {with(RPush, "a b"), "2", do(LPop), true, do(LRange), "b"},
		"an unknown pop did not":           {with(RPush, "a b"), "2", do(LPop), true, do(LPop), "a"},
		"an unknown SPOP took any of them": {with(SAdd, "a b c"), "3", do(SPop), true, do(SMembers), "a c", do(SPop), "a"},
		"an unknown SPOP took the last":    {with(SAdd, "a"), "1", do(SPop), true, do(SPop), Nil},
		"an unknown push":                  {with(RPush, "a b"), true, do(LPop), "a", do(LPop), "b", do(LPop), Nil},
	} {
		r := NewRecorder()
		record(r, pairs...)
		require.NoError(t, r.Check(time.Minute).Err(), name)
	}
}

func TestWrongHistoriesOfElementsAreShown(t *testing.T) {
	for name, pairs := range map[string][]any{
		"handed out twice":            {with(RPush, "a b"), "2", do(LPop), "a", do(LPop), "a"},
		"handed out from both ends":   {with(RPush, "a b"), "2", do(LPop), "a", do(RPop), "a"},
		"vanished":                    {with(RPush, "a b"), "2", do(LPop), "a", do(LRange), ""},
		"vanished at the end":         {with(RPush, "a b"), "2", do(LRange), "a"},
		"there twice":                 {with(RPush, "a"), "1", do(LRange), "a a"},
		"not first in, first out":     {with(RPush, "a"), "1", with(RPush, "b"), "2", do(LPop), "b"},
		"turned and lost":             {with(RPush, "a b"), "2", do(LMove), "a", do(LRange), "b"},
		"an unknown pop took another": {with(RPush, "a b c"), "3", do(LPop), true, do(LRange), "a c"},
		"an unknown pop took two":     {with(RPush, "a b c"), "3", do(LPop), true, do(LRange), "c"},
		"an unknown push, and back":   {with(RPush, "a"), true, do(LPop), "a", do(LPop), "a"},
		"trimmed, and back":           {with(RPush, "a b"), "2", do(LTrim), "OK", do(LPop), "a"},
		"SPOP hands out twice":        {with(SAdd, "a b"), "2", do(SPop), "a", do(SPop), "a"},
		"SPOP of what is not there":   {with(SAdd, "a b"), "2", do(SPop), "c"},
		"SPOP finds none":             {with(SAdd, "a b"), "2", do(SPop), Nil},
		"SPOP takes another":          {with(SAdd, "a b"), "2", do(SPop), "a", do(SMembers), "a"},
		"an unknown SPOP took two":    {with(SAdd, "a b c"), "3", do(SPop), true, do(SMembers), "a"},
		"a member vanished":           {with(SAdd, "a"), "1", with(SAdd, "b"), "1", do(SMembers), "b"},
		"a removed member is back":    {with(SAdd, "a b"), "2", with(SRem, "a"), "1", with(SIsMember, "a"), "1"},
		"ZPOPMIN hands out twice":     {zadd("a", 1), "1", zadd("b", 1), "1", do(ZPopMin), "a 1", do(ZPopMin), "a 1"},
		"ZPOPMIN is not the least":    {zadd("a", 1), "1", zadd("b", 2), "1", do(ZPopMin), "b 2"},
		"ZPOPMIN takes another":       {zadd("a", 1), "1", zadd("b", 2), "1", do(ZPopMin), "a 1", do(ZRange), "a 1"},
		"an increment twice":          {with(ZIncr, "a"), "1", with(ZIncr, "a"), "3"},
		"an increment is lost":        {with(ZIncr, "a"), "1", with(ZIncr, "a"), "2", with(ZScore, "a"), "1"},
		"an empty list lives":         {with(RPush, "a"), "1", do(LPop), "a", do(Del), "1"},
		"the expiry is lost":          {with(SAdd, "a"), "1", ttl(PExpire, 1e6), "1", with(SAdd, "b"), "1", do(Persist), "0"},
		"the type is another":         {with(RPush, "a"), "1", do(SPop), Nil},
	} {
		r := NewRecorder()
		record(r, pairs...)
		require.Len(t, r.Check(time.Minute).Violations, 1, name)
	}
}
