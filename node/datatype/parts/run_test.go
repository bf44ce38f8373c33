package parts

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// changed is what is wrong if a version is changed by what is done to another one.
const changed = "a version is not what it was"

// TestAnyVersionMayBeChanged: versions of a map are read, frozen and changed in any order, also those that others were made of in place, and each stays what it was.
func TestAnyVersionMayBeChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			m     *Map
			model map[string]string
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		keys, longest := rapid.SampledFrom([]int{3, 40, 1000}).Draw(t, "keys"), rapid.SampledFrom([]int{3, 100, 2000}).Draw(t, "longest")
		former := rapid.SampledFrom([]int{2, 20, 200}).Draw(t, "former")
		versions := []version{{new(Map), map[string]string{}}}
		for range rapid.IntRange(1, 1500).Draw(t, "steps") {
			v := versions[len(versions)-1]
			if random.IntN(former) == 0 {
				v = versions[random.IntN(len(versions))]
			}
			key := fmt.Sprint("k", random.IntN(keys))
			want, there := v.model[key]
			got, found := v.m.Get([]byte(key))
			require.Equal(t, there, found, changed)
			require.Equal(t, want, string(got), changed)
			next := version{model: maps.Clone(v.model)}
			if random.IntN(3) > 0 {
				value := strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(longest))
				next.model[key] = value
				next.m, found = v.m.Set([]byte(key), []byte(value))
			} else {
				delete(next.model, key)
				next.m, found = v.m.Remove([]byte(key))
			}
			require.Equal(t, there, found, changed)
			require.Equal(t, len(next.model), next.m.Len(), changed)
			versions = append(versions, next)
			if random.IntN(former) == 0 {
				v = versions[random.IntN(len(versions))]
				packed, err := io.ReadAll(v.m.Reader())
				require.NoError(t, err)
				require.Equal(t, v.m.Size(), len(packed), changed)
			}
			if len(versions) > 50 {
				versions = versions[25:]
			}
		}
		for _, i := range random.Perm(len(versions)) {
			v := versions[i]
			require.Equal(t, v.model, contents(t, v.m), changed)
			if root := v.m.frozenRoot(); root != nil {
				sound(t, root, 0, true)
				require.Equal(t, v.m.size, root.size)
				require.Equal(t, v.m.count, root.count)
			}
		}
	})
}

// TestAVersionIsReadWhileAnotherIsMade of it, by somebody else.
func TestAVersionIsReadWhileAnotherIsMade(t *testing.T) {
	m := numbered(3000)
	var readers sync.WaitGroup
	defer readers.Wait()
	for i := range 3000 {
		if i%100 == 0 {
			want := m.AppendTo(nil)
			m, _ = m.Set([]byte("field1"), fmt.Append(nil, i)) // so that it is not frozen
			before := m
			want2 := func() []byte {
				other, _ := Unpack(want)
				other, _ = other.Set([]byte("field1"), fmt.Append(nil, i))
				return other.AppendTo(nil)
			}()
			readers.Go(func() {
				got, err := io.ReadAll(before.Reader())
				if err != nil || string(got) != string(want2) || before.Size() != len(got) {
					t.Errorf("after %d changes it is something else: %v", i, err)
				}
			})
		}
		m, _ = m.Set(fmt.Append(nil, "field", i), []byte("another value"))
	}
}

// TestWhatIsKeptToUndoIsBounded: who keeps a version of a map keeps no more than another one of it with that.
func TestWhatIsKeptToUndoIsBounded(t *testing.T) {
	m := numbered(5000)
	m, _ = m.Set([]byte("field1"), nil)
	former := m
	for i := range 20_000 {
		m, _ = m.Set(fmt.Append(nil, "field", i%5000), fmt.Append(nil, i%9))
	}
	kept := 0
	for ; former.next != nil; former = former.next {
		kept += len(former.undo.item) + undoMemory
	}
	require.Positive(t, kept)
	require.Less(t, kept, max(leastRun, undoFactor*m.Size())+1000)
	require.True(t, former.frozen)
}

// TestAChangeInPlaceTakesLittle: what has been changed in a run is changed again for what a version takes, and what undoes it.
func TestAChangeInPlaceTakesLittle(t *testing.T) {
	m := numbered(20_000)
	value := []byte("another")
	for i := range 20_000 {
		m, _ = m.Set(fmt.Append(nil, "field", i), value)
	}
	key := []byte("field0")
	got := testing.AllocsPerRun(100, func() { m, _ = m.Set(key, value) })
	if spoils { // which takes a piece of memory, and one more in a build for tests
		got -= 2
	}
	require.LessOrEqual(t, got, 1.0, "a value as long")
	other := []byte("something longer")
	got = testing.AllocsPerRun(100, func() {
		m, _ = m.Set(key, other)
		m, _ = m.Set(key, value)
	})
	if spoils {
		got -= 4
	}
	require.LessOrEqual(t, got, 4.0, "values that are not")
}

// TestAValueIsOverwrittenInItsVersionOnly: values are replaced by some as long, in parts that the version before has made, or one that is frozen has.
func TestAValueIsOverwrittenInItsVersionOnly(t *testing.T) {
	m, value := new(Map), func(round, i int) string { return strings.Repeat(string(rune('a'+round)), i%150) }
	type version struct {
		m    *Map
		want map[string]string
	}
	var versions []version
	for round := range 6 {
		want := map[string]string{}
		for i := range 1000 {
			key := fmt.Sprint("field", i)
			want[key] = value(round, i)
			m, _ = m.Set([]byte(key), []byte(want[key]))
		}
		versions = append(versions, version{m, want})
		if round%2 == 0 {
			require.Equal(t, want, contents(t, m)) // which freezes it
		}
	}
	for _, v := range versions {
		require.Equal(t, v.want, contents(t, v.m), changed)
		sound(t, v.m.frozenRoot(), 0, true)
	}
}
