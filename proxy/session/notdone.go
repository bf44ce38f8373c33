package session

import (
	"bytes"
	"slices"
)

// retried are the words on which client libraries repeat a command by themselves, as far as errors here have them. Some libraries
// repeat all of a pipeline if its first command gets one, though the others were executed.
var retried = [][]byte{[]byte("-CLUSTERDOWN "), []byte("-TRYAGAIN "), []byte("-LOADING ")}

// notDone is the word that takes their place where a command came with others. No library knows it.
const notDone = "NOTDONE"

// isRetried reports whether libraries repeat a command that is answered so.
func isRetried(reply []byte) bool {
	return slices.ContainsFunc(retried, func(word []byte) bool { return bytes.HasPrefix(reply, word) })
}

// unretried returns the error reply of a command. If it came with others, as part of a pipeline, its word is none on which a library
// would repeat them all: INCRs would be counted twice.
func (s *Session) unretried(reply []byte) []byte {
	if !isRetried(reply) || !s.conn.Pipelined() {
		return reply
	}
	return append([]byte("-"+notDone+" "), reply[1:]...)
}
