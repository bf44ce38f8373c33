package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSortLooksUp(t *testing.T) {
	for line, want := range map[string]bool{
		"SORT k": false, "SORT k BY nosort": false, "SORT k GET #": false, "SORT k BY w_*": true, "sort k get # GET *->f DESC": true, "SORT k STORE by BY nosort": false, "SORT k STORE by *": false,
		"SORT k LIMIT get * ALPHA": false, "SORT k LIMIT 0 1 GET *": true, "SORT k BY": false, "SORT k GET a\x00*": false, "SORT k STORE": false,
	} {
		var args [][]byte
		for _, arg := range strings.Fields(line) {
			args = append(args, []byte(arg))
		}
		require.Equal(t, want, SortLooksUp(args), line)
	}
}

func TestSortedBy(t *testing.T) {
	for pattern, want := range map[string][2]string{
		"*": {"E"}, "w_*": {"w_E"}, "w_*_x": {"w_E_x"}, "w_*->f": {"w_E", "f"}, "w_*x->f": {"w_Ex", "f"}, "w_*->": {"w_E->"}, "w->*": {"w->E"}, "w_*->f->g": {"w_E", "f->g"},
		"a*b*c": {"aEb*c"}, "w_*\x00->f": {"w_E\x00->f"}, "w_*->\x00f": {"w_E->\x00f"}, "*->f\x00g": {"E", "f\x00g"},
	} {
		key, field := SortedBy([]byte(pattern), []byte("E"))
		require.Equal(t, want, [2]string{string(key), string(field)}, "%q", pattern)
	}
}
