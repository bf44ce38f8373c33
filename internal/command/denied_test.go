package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDenialsTravelBeforeTheReply(t *testing.T) {
	var l DenialList
	require.Equal(t, "+OK", string(l.Before([]byte("+OK"), 0)), "there are none")
	l.Add(2, []byte("key"))
	l.Add(1, []byte(strings.Repeat("x", 2*maxDeniedObject)))
	all := l.Before([]byte("before+OK"), 6)
	list, reply := Denials(all[6:])
	require.Equal(t, "+OK", string(reply))
	require.Equal(t, []Denial{{2, []byte("key")}, {1, []byte(strings.Repeat("x", maxDeniedObject))}}, list)
	for n := range all[6:] {
		part := all[6 : 6+n]
		list, reply := Denials(part)
		if n < len(all)-6-len("+OK") {
			require.Empty(t, list)
			require.Equal(t, part, reply, "what is cut off is no list")
		}
	}
	for range 2 * maxDenials {
		l.Add(1, nil)
	}
	list, _ = Denials(l.Before(nil, 0))
	require.Len(t, list, maxDenials)
}

func TestABatchHasTheRulesOfItsUser(t *testing.T) {
	b := Batch{Array: true, Rules: []byte("on ~a"), Watched: []Watched{{[]byte("k"), []byte("v")}}, Also: [][]byte{[]byte("m")}, Commands: []Request{{Op: OpGet, Args: [][]byte{[]byte("GET"), []byte("k")}}}}
	req := b.Request([]byte("k"), false)
	parsed, err := ParseBatch(&req)
	require.NoError(t, err)
	require.Equal(t, &b, parsed)
	req.Args = req.Args[:3]
	_, err = ParseBatch(&req)
	require.ErrorIs(t, err, ErrBatch)
}
