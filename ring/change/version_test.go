package change

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkVersion is what each version costs in the middle of a plan with which a fourth member joins three: most slots move, and were changed in many versions.
func BenchmarkVersion(b *testing.B) {
	limits := Limits{Joint: 4096, PerSource: 1024, PerTarget: 1024, Alive: Alive}
	d, e := underWay(b, limits)
	next := do(b, d, e)
	delta := next.Since(d.Version)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
	run("apply", func() { _, _ = Apply(d, e, 0) })
	run("wave", func() { NextWave(next, limits) })
	run("left", func() { next.Left() })
	run("digest", func() { next.Digest() })
	run("since", func() { next.Since(d.Version) })
	run("encode", func() { next.Encode() })
	run("validate", func() { _ = next.Validate() })
	run("table", func() { _, _ = next.Table() })
	run("update", func() {
		_, err := d.Update(delta)
		require.NoError(b, err)
	})
	b.Logf("a delta of %d bytes, a document of %d", len(delta), len(next.Encode()))
}

// underWay returns such a document, and the report that comes next.
func underWay(t testing.TB, limits Limits) (Document, Entry) {
	d := commit(t, do(t, first(t, 3, 3), join(4), stage(Staged{Kind: JoinMember, Name: "n4"})))
	report := func() Entry {
		c := &Complete{Member: 4}
		for _, p := range d.Joint[:90] {
			c.Slots = append(c.Slots, SlotEpoch{p.Slot, d.Slots[p.Slot].Epoch})
		}
		return Entry{Complete: c}
	}
	d = do(t, d, begin(d, NextWave(d, limits)...))
	for range 60 {
		d = do(t, d, report())
		d = do(t, d, begin(d, NextWave(d, limits)...))
	}
	return d, report()
}

// TestAVersionCostsLittle: what slots have in common is found out once, not for each of the ten thousand that a plan moves. It was 20,000 times for a wave.
func TestAVersionCostsLittle(t *testing.T) {
	limits := Limits{Joint: 4096, PerSource: 1024, PerTarget: 1024, Alive: Alive}
	d, e := underWay(t, limits)
	d = do(t, d, e)
	require.Len(t, NextWave(d, limits), 90)
	require.Less(t, testing.AllocsPerRun(3, func() { NextWave(d, limits) }), 1000.0)
	require.Less(t, testing.AllocsPerRun(3, func() { d.Encode() }), 200.0)
}
