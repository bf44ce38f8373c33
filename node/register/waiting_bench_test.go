package register

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
)

// BenchmarkManyWait is what commands without effect cost that are given at once, all on one key: what one of them costs must not depend on how many others wait.
func BenchmarkManyWait(b *testing.B) {
	words := func(words ...string) *command.Request {
		cmd := &command.Request{Op: command.OpSet}
		for _, word := range words {
			cmd.Args = append(cmd.Args, []byte(word))
		}
		return cmd
	}
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFlat(b)
			f.execute(NewRequest(words("SET", "key", "there"), nil, 0, f.mono))
			given, cmd := 1, words("SET", "key", "another", "NX")
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
