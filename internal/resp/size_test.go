package resp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSize(t *testing.T) {
	for _, reply := range []string{
		"+OK\r\n", "-ERR x\r\n", ":-5\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "(123\r\n", "$-1\r\n", "*-1\r\n", "$0\r\n\r\n", "$4\r\na\r\nb\r\n", "=5\r\ntxt:x\r\n", "*0\r\n", "%0\r\n",
		"*2\r\n:1\r\n$1\r\nx\r\n", "%2\r\n+a\r\n*1\r\n~1\r\n:1\r\n+b\r\n_\r\n", "*3\r\n*1\r\n*1\r\n*0\r\n$-1\r\n>1\r\n+x\r\n",
	} {
		require.Equal(t, len(reply), Size([]byte(reply)), reply)
		require.Equal(t, len(reply), Size([]byte(reply+"+more\r\n")), reply)
		for cut := range len(reply) {
			require.Zero(t, Size([]byte(reply[:cut])), "%q", reply[:cut])
		}
	}
	for _, bad := range []string{"x\r\n", "+OK\n", "\r\n", "$x\r\n", "$9223372036854775807\r\nx\r\n", "*9223372036854775807\r\n", "%4611686018427387904\r\n+a\r\n", "?1\r\n", "*2\r\n*1000000\r\n"} {
		require.Zero(t, Size([]byte(bad)), "%q", bad)
	}
}
