package command

import (
	"bytes"
	"fmt"
)

const (
	// shownArgs and shownBytes are how many arguments of a command, and bytes of each, are kept to be shown, as in Redis' slow log.
	shownArgs  = 32
	shownBytes = 128
)

// Shortened returns copies of the arguments of a command, as Redis' slow log keeps them: what there is too much of is counted.
func Shortened(args [][]byte) [][]byte {
	kept := make([][]byte, 0, min(len(args), shownArgs))
	for i, arg := range args {
		switch {
		case i == shownArgs-1 && len(args) > shownArgs:
			return append(kept, fmt.Appendf(nil, "... (%d more arguments)", len(args)-shownArgs+1))
		case len(arg) > shownBytes:
			kept = append(kept, fmt.Appendf(nil, "%s... (%d more bytes)", arg[:shownBytes], len(arg)-shownBytes))
		default:
			kept = append(kept, bytes.Clone(arg))
		}
	}
	return kept
}
