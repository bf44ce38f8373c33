package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBlind(t *testing.T) {
	for line, want := range map[string]bool{
		"SET k v":                      true,
		"SET k v EX 10":                true,
		"SET k v px 10":                true,
		"SET k v EX 4503599627370496":  true,
		"SETEX k 10 v":                 true,
		"PSETEX k 1 v":                 true,
		"SET k":                        false,
		"SET k v NX":                   false,
		"SET k v XX":                   false,
		"SET k v GET":                  false,
		"SET k v KEEPTTL":              false,
		"SET k v EX 10 NX":             false,
		"SET k v GET EX 10":            false,
		"SET k v EX":                   false,
		"SET k v EX 0":                 false,
		"SET k v EX -1":                false,
		"SET k v EX +1":                false,
		"SET k v EX 1.5":               false,
		"SET k v EX 9223372036854775":  false, // overflows in Redis, depending on now
		"SET k v EX 10 PX 10":          false,
		"SET k v EXAT 9999999999":      false,
		"SET k v PXAT 1":               false,
		"SET k v E\x18 1":              false,
		"SET k v FOO 1":                false,
		"SETEX k 0 v":                  false,
		"SETEX k x v":                  false,
		"SETEX k 10":                   false,
		"SETNX k v":                    false,
		"GETSET k v":                   false,
		"APPEND k v":                   false,
		"MSET k v":                     false,
		"GET k":                        false,
		"PSETEX k 9223372036854775807": false,
	} {
		args := bytes.Fields([]byte(line))
		require.Equal(t, want, Blind(&Request{Op: Lookup(args[0]).Op, Args: args}), line)
	}
}
