package change

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkChange is what each version costs: of an entry of the log, who applies it; of its delta, everybody.
func BenchmarkChange(b *testing.B) {
	d := do(b, first(b, 300, 3), join(301), stage(Staged{Kind: JoinMember, Name: "n301"}))
	d = commit(b, d)
	e := begin(d, NextWave(d, Limits{Joint: 32, Alive: Alive})...)
	next := do(b, d, e)
	delta := next.Since(d.Version)
	b.Run("apply", func(b *testing.B) {
		for b.Loop() {
			_, err := Apply(d, e, 0)
			require.NoError(b, err)
		}
	})
	b.Run("since", func(b *testing.B) {
		for b.Loop() {
			next.Since(d.Version)
		}
	})
	b.Run("update", func(b *testing.B) {
		for b.Loop() {
			_, err := d.Update(delta)
			require.NoError(b, err)
		}
	})
}
