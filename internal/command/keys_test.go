package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeysAndFlagsEqualRedis: COMMAND GETKEYSANDFLAGS says the same, the order of flags apart, which is that of COMMAND INFO.
func TestKeysAndFlagsEqualRedis(t *testing.T) {
	redis := startRedis(t)
	for _, line := range strings.Split(`get a|set a 1|set a 1 get|mset a 1 b 2|bitfield a|bitfield a get u8 0|bitfield a set u8 0 1|bitfield a overflow sat get u8 0|bitfield a get
rename a b|copy a b|lmpop 2 a b left|zunionstore d 2 a b|sinterstore d a b|bitop and d a b|sort a store b|georadius a 1 2 3 m store b|eval x 2 a b c|lcs a b|memory usage a
object encoding a|restore a 0 x|zrangestore d s 0 1|lmove a b left right|smove a b c|pfcount a b|pfmerge a b|del a b|expire a 1|hset a f v|zmpop 1 a min|fcall f 1 a|watch a b`, "\n") {
		for _, text := range strings.Split(line, "|") {
			want := redis.do(t, append([]string{"COMMAND", "GETKEYSANDFLAGS"}, strings.Fields(text)...)...)
			var args [][]byte
			for _, field := range strings.Fields(text) {
				args = append(args, []byte(field))
			}
			keys, flags, ok := Lookup(args[0]).Called(args).KeysAndFlags(args)
			require.True(t, ok, text)
			mine := []any{}
			for i, key := range keys {
				names := []any{}
				for _, name := range flags[i].Strings() {
					names = append(names, "+"+name)
				}
				mine = append(mine, []any{string(key), names})
			}
			require.Equal(t, want, mine, text)
		}
	}
}
