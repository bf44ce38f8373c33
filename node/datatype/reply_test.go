package datatype

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestLongRepliesAreMadeOnce: what is read of a large collection takes memory for the reply, and little else.
func TestLongRepliesAreMadeOnce(t *testing.T) {
	const elements = 30_000
	for add, reads := range map[string][][]string{
		"RPUSH": {{"LRANGE", "k", "0", "-1"}, {"LRANGE", "k", "100", "20000"}},
		"SADD":  {{"SMEMBERS", "k"}},
		"HSET":  {{"HGETALL", "k"}},
	} {
		words := []string{add, "k"}
		for i := range elements {
			words = append(words, fmt.Sprintf("element-%09d", i))
		}
		_, eff := Execute(nil, record.State{}, request(words...), testNow)
		for _, read := range reads {
			reply, _ := Execute(nil, eff.State, request(read...), testNow)
			require.Greater(t, len(reply), longReply, read)
			require.LessOrEqual(t, cap(reply), len(reply)*11/10, read) // what append makes is a quarter longer in the end
		}
	}
}
