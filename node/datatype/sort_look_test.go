package datatype

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/redistest"
)

// TestSortLooksUpAsRedis: BY and GET of other keys. What has the same weight as text is in any order in Redis if there is a LIMIT, or if it is no list.
func TestSortLooksUpAsRedis(t *testing.T) {
	addr := redistest.Start(t)
	conns := []*redisConn{dialRedis(t, addr, "2"), dialRedis(t, addr, "3")}
	elements := []string{"1", "2", "3", "10", "x", "", "->f", "*"}
	names := []string{"k", "to"}
	for _, element := range elements {
		names = append(names, "w_"+element, "h_"+element, "h_"+element+"_x", element)
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	rapid.Check(t, func(r *rapid.T) {
		g := &generator{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "n") }}
		element := func() string { return pick(g, elements...) }
		resp3 := g.chance(50)
		conn := conns[0]
		if resp3 {
			conn = conns[1]
		}
		keys, states := make([][]byte, len(names)), make([]record.State, len(names))
		for i, name := range names {
			keys[i] = []byte(name)
		}
		k := NewKeyspace(keys, states, testNow, nil)
		same := func(args ...string) {
			here, there := executeHere(k, args, resp3), conn.ask(t, args...)
			require.Equal(t, there, here, "%q", args)
		}
		conn.ask(t, "FLUSHALL")
		kind := pick(g, "RPUSH", "RPUSH", "SADD", "ZADD")
		for range 1 + g.intn(10) {
			switch kind {
			case "ZADD":
				same(kind, "k", strconv.Itoa(g.intn(5)), element())
			default:
				same(kind, "k", element())
			}
		}
		for range g.intn(20) {
			value := pick(g, strconv.Itoa(g.intn(30)), strconv.Itoa(g.intn(30)), "2.5", "b", "a", "")
			if key := "w_" + element(); g.chance(50) {
				same("SET", key, value)
			} else if key = "h_" + element(); g.chance(90) {
				same("HSET", key, "f", value, "f->g", value)
			} else {
				same("RPUSH", element(), value)
			}
		}
		for range 5 {
			args := []string{pick(g, "SORT", "SORT_RO"), "k"}
			pattern := func() string {
				return pick(g, "w_*", "w_*", "h_*->f", "h_*->f", "h_*->f->g", "*", "h_*->", "nothing_*", "w_*->f", "h_*", "#", "x", "h_*_x", "*_*")
			}
			by, alpha := g.chance(70), g.chance(30)
			if by {
				args = append(args, "BY", pattern())
			}
			for range g.intn(3) {
				args = append(args, "GET", pattern())
			}
			if g.chance(30) {
				args = append(args, "DESC")
			}
			if alpha {
				args = append(args, "ALPHA")
			}
			if g.chance(30) && !(by && alpha) {
				args = append(args, "LIMIT", strconv.Itoa(g.intn(4)), strconv.Itoa(g.intn(4)))
			}
			if by && (kind != "RPUSH" && alpha || kind == "SADD" && !strings.Contains(args[3], "*")) {
				continue
			}
			if args[0] == "SORT" && g.chance(30) {
				same(append(args, "STORE", "to")...)
				same("LRANGE", "to", "0", "-1")
			} else {
				same(args...)
			}
		}
	})
}

// TestSortNamesTheKeysOfItsDatabase, all at once, where it is not given them.
func TestSortNamesTheKeysOfItsDatabase(t *testing.T) {
	for _, id := range []database.ID{0, 3, database.IDOf(3, true)} {
		k := id.Key([]byte("{u}l"))
		_, list, _ := execute(t, record.State{}, request("RPUSH", "k", "1", "2", "1"), testNow)
		space := NewKeyspace([][]byte{k}, []record.State{list}, testNow, nil)
		executeHere(space, []string{"SORT", string(k), "BY", "{u}w_*", "GET", "{u}h_*->f", "GET", "#"}, false)
		var want []string
		for _, name := range []string{"{u}w_1", "{u}w_2", "{u}h_1", "{u}h_2"} {
			want = append(want, string(id.Key([]byte(name))))
		}
		var missing []string
		for _, name := range space.Missing() {
			missing = append(missing, string(name))
		}
		require.ElementsMatch(t, want, missing)
	}
}
