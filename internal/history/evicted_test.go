package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhatIsEvictedIsNotThere, at any moment, and that is right where keys may be evicted, and nowhere else.
func TestWhatIsEvictedIsNotThere(t *testing.T) {
	for name, pairs := range map[string][]any{
		"a value":             {with(Set, "v"), "OK", do(Get), Nil},
		"and is written anew": {with(Set, "v"), "OK", do(Get), Nil, with(SetNX, "w"), "1", do(Get), "w", do(Get), Nil, do(Incr), "1"},
		"between two writes":  {do(Incr), "1", do(Incr), "2", do(Incr), "1", do(Incr), "2"},
		"before a deletion":   {with(Set, "v"), "OK", do(Del), "0"},
		"before it expires":   {psetex(1e6, "v"), "OK", do(Persist), "0", do(Get), Nil},
		"a hash":              {hset("a b", "1"), "2", do(HGetAll), "", hset("a", "3"), "1", do(HGetAll), "a 3"},
		"a list":              {with(RPush, "a b"), "2", do(LPop), "a", do(LRange), "", with(RPush, "c"), "1"},
		"the type is another": {with(RPush, "a b"), "2", with(SAdd, "c"), "1"},
		"an unknown write":    {with(Set, "v"), "OK", with(Set, "w"), true, do(Get), Nil},
	} {
		right, wrong := NewRecorder(), NewRecorder()
		right.MayEvict()
		record(right, pairs...)
		record(wrong, pairs...)
		require.NoError(t, right.Check(time.Minute).Err(), name)
		require.Len(t, wrong.Check(time.Minute).Violations, 1, name)
	}
}

// TestALostWriteIsNoEviction: what may be evicted does not become anything else than absent.
func TestALostWriteIsNoEviction(t *testing.T) {
	for name, pairs := range map[string][]any{
		"the value before":               {with(Set, "old"), "OK", with(Set, "new"), "OK", do(Get), "old"},
		"the value before, once evicted": {with(Set, "old"), "OK", with(Set, "new"), "OK", do(Get), Nil, do(Get), "old"},
		"what was evicted":               {with(Set, "v"), "OK", do(Get), Nil, do(Get), "v"},
		"what was evicted, as a type":    {with(RPush, "a"), "1", do(Get), Nil, do(Get), WrongType},
		"an increment is lost":           {do(Incr), "1", do(Incr), "2", do(Incr), "2"},
		"an increment is done twice":     {do(Incr), "1", do(Incr), "3"},
		"a field is gone, and no other":  {hset("a b", "1"), "2", do(HGetAll), "b 1"},
		"an element is handed out twice": {with(RPush, "a b"), "2", do(LPop), "a", do(LPop), "a"},
		"an element is gone":             {with(RPush, "a b c"), "3", do(LPop), "a", do(LRange), "c"},
		"nobody wrote it":                {with(Set, "v"), "OK", do(Get), "w"},
		"the expiry is lost":             {psetex(1e6, "v"), "OK", do(Persist), "0", do(Get), "v"},
	} {
		r := NewRecorder()
		r.MayEvict()
		record(r, pairs...)
		result := r.Check(time.Minute)
		require.Len(t, result.Violations, 1, name)
		require.NoError(t, r.Save(t.TempDir(), result), name)
	}
}
