package register

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkManyWait is what commands without effect cost that are given at once, all on one key: what one of them costs must not depend on how many others wait.
func BenchmarkManyWait(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFlat(b)
			f.execute(NewRequest(commandOf(b, "set key there"), nil, 0, f.mono))
			given, cmd := 1, commandOf(b, "setnx key another")
			for b.Loop() {
				f.give(NewRequest(cmd, nil, 0, f.mono))
				if given++; given%n == 0 {
					f.run()
				}
			}
			f.run()
			require.Equal(b, given, f.answered)
		})
	}
}
