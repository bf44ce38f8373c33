package register

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestKeySetIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s keySet
		want := map[string]*keyState{}
		name := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, 3*indexAt).Draw(t, "key")) })
		add := func(t *rapid.T) {
			k := name.Draw(t, "name")
			if want[k] == nil {
				want[k] = newKeyState()
				s.add([]byte(k), 3, want[k])
				require.Equal(t, keyState{key: []byte(k), held: make([]uint64, 3), keyTerm: keyTerm{place: want[k].place}}, fresh(want[k]))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": add,
			// Twice as likely, or the set would hardly become long.
			"add another": add,
			"remove": func(t *rapid.T) {
				k := name.Draw(t, "name")
				if ks := want[k]; ks != nil {
					ks.held[0], ks.queue, ks.known = 9, append(ks.queue, nil), true // must not be there for the next one
					s.remove(ks)
					delete(want, k)
				}
			},
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
					s.reset()
					clear(want)
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(want), s.len())
				for i := range 3*indexAt + 1 {
					k := fmt.Sprint(i)
					require.Same(t, want[k], s.get([]byte(k)))
				}
				var listed []string
				for i, ks := range s.all() {
					require.Equal(t, i, ks.place)
					listed = append(listed, string(ks.key))
				}
				slices.Sort(listed)
				require.Equal(t, slices.Sorted(maps.Keys(want)), listed)
				require.Equal(t, s.all(), s.snapshot())
			},
		})
	})
}

// fresh is a copy in which empty slices are nil, but for those that are never.
func fresh(ks *keyState) keyState {
	c := *ks
	c.room = keyRoom{}
	if len(c.queue) == 0 {
		c.queue = nil
	}
	if len(c.waiting) == 0 {
		c.waiting = nil
	}
	return c
}

func TestASnapshotSurvivesChanges(t *testing.T) {
	var s keySet
	for i := range 2 * indexAt {
		s.add(fmt.Append(nil, i), 1, newKeyState())
	}
	snapshot := s.snapshot()
	for _, ks := range snapshot {
		s.remove(ks)
	}
	require.Zero(t, s.len())
	require.Len(t, snapshot, 2*indexAt)
}
