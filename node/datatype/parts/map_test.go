package parts

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// contents returns what a map holds, and checks that it is in order.
func contents(t require.TestingT, m *Map) map[string]string {
	all := map[string]string{}
	lastPos, lastKey := uint64(0), ""
	for key, value := range m.All() {
		pos := Position(key)
		require.True(t, len(all) == 0 || pos > lastPos || pos == lastPos && string(key) > lastKey, "%q is not in order", key)
		lastPos, lastKey = pos, string(key)
		all[string(key)] = string(value)
	}
	require.Equal(t, len(all), m.Len())
	return all
}

// sound checks what holds for every node.
func sound(t require.TestingT, n *node, low uint64, root bool) {
	if n.kids == nil {
		require.Equal(t, len(n.packed), n.size)
		require.NotZero(t, n.count)
		require.GreaterOrEqual(t, n.low(), low)
		return
	}
	require.LessOrEqual(t, len(n.kids), fanout)
	require.False(t, root && len(n.kids) == 1)
	count, size := 0, 0
	for i, k := range n.kids {
		if i == 0 {
			k.low = low
		}
		sound(t, k.node, k.low, false)
		count, size = count+k.node.count, size+k.node.size
		if i > 0 {
			require.True(t, i == 1 || n.kids[i-1].low < k.low)
			for key := range newMap(n.kids[i-1].node).All() {
				require.Less(t, Position(key), k.low, "an item is beyond where the next node begins")
			}
		}
	}
	require.Equal(t, count, n.count)
	require.Equal(t, size, n.size)
}

// TestMapIsAMap compares a map with Go's, and looks at the maps before it again: they never change.
func TestMapIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, model := new(Map), map[string]string{}
		type version struct {
			m     *Map
			model map[string]string
		}
		var former []version
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		keys, longest := rapid.SampledFrom([]int{3, 40, 2000}).Draw(t, "keys"), rapid.SampledFrom([]int{0, 20, 3000}).Draw(t, "longest")
		growing := true
		for i := range rapid.IntRange(1, 4000).Draw(t, "changes") {
			if i%500 == 499 {
				growing = !growing
			}
			key := fmt.Sprint("k", random.IntN(keys))
			_, there := model[key]
			var found bool
			if growing == (random.IntN(4) > 0) {
				model[key] = strings.Repeat("v", random.IntN(longest+1))
				m, found = m.Set([]byte(key), []byte(model[key]))
			} else {
				delete(model, key)
				before := m
				m, found = m.Remove([]byte(key))
				require.Equal(t, !there, before == m)
			}
			require.Equal(t, there, found)
			if i%300 == 0 {
				copied := map[string]string{}
				for k, v := range model {
					copied[k] = v
				}
				former = append(former, version{m, copied})
			}
		}
		for _, v := range append(former, version{m, model}) {
			require.Equal(t, v.model, contents(t, v.m))
			if root := v.m.frozenRoot(); root != nil {
				sound(t, root, 0, true)
			}
			for key, value := range v.model {
				got, found := v.m.Get([]byte(key))
				require.True(t, found)
				require.Equal(t, value, string(got))
			}
			_, found := v.m.Get([]byte("absent"))
			require.False(t, found)
		}
	})
}

func numbered(n int) *Map {
	m := new(Map)
	for i := range n {
		m, _ = m.Set(fmt.Append(nil, "field", i), fmt.Append(nil, i))
	}
	return m
}

// TestPackedForm: whatever way a map came to be, its packed form is the same, and makes the same map.
func TestPackedForm(t *testing.T) {
	for _, n := range []int{1, 2, 100, 5000} {
		m := numbered(n)
		packed := m.AppendTo(nil)
		require.Len(t, packed, m.Size())
		other, ok := Unpack(packed)
		require.True(t, ok)
		sound(t, other.root, 0, true)
		require.Equal(t, contents(t, m), contents(t, other))
		require.Equal(t, packed, other.AppendTo(nil))
		for cut := range min(len(packed), 200) {
			_, ok := Unpack(packed[:cut])
			require.False(t, ok)
		}
		_, ok = Unpack(append(packed, 0, 0))
		require.False(t, ok, "an item more than it says")
	}
}

func TestRanksAndPositions(t *testing.T) {
	m := numbered(3000)
	rank := 0
	for key, value := range m.All() {
		k, v := m.At(rank)
		require.Equal(t, string(key)+string(value), string(k)+string(v))
		if rank%100 == 0 {
			from := rank
			for key := range m.From(Position(key)) {
				k, _ := m.At(from)
				require.Equal(t, string(k), string(key))
				if from++; from == rank+150 {
					break
				}
			}
		}
		rank++
	}
	require.Equal(t, 3000, rank)
}

// TestSamePosition: keys that somebody has chosen to be at one position are in one part, and nothing is lost.
func TestSamePosition(t *testing.T) {
	packed := []byte{}
	for i := range 200 {
		packed = AppendItem(packed, []byte("one key, again and again"), fmt.Append(nil, i))
	}
	left, right := new(change).halved(newLeaf(packed, 200))
	require.Nil(t, right)
	require.Equal(t, 200, left.count)
}

// TestAChangeSharesTheRest: of 100,000 items a change copies next to nothing.
func TestAChangeSharesTheRest(t *testing.T) {
	m := numbered(100_000)
	allocated := testing.Benchmark(func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			m.Set(fmt.Append(nil, "field", i%100_000), []byte("another"))
		}
	}).AllocedBytesPerOp()
	require.Less(t, allocated, int64(5000))
}

func BenchmarkSet(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := numbered(n)
			key := []byte("field77")
			b.ReportAllocs()
			for b.Loop() {
				m, _ = m.Set(key, []byte("a value"))
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	m := numbered(1_000_000)
	for i := 0; b.Loop(); i++ {
		m.Get(fmt.Append(nil, "field", i%1_000_000))
	}
}
