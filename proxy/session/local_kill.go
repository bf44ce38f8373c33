package session

import (
	"fmt"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// Errors of SCRIPT KILL and FUNCTION KILL, in Redis' words.
var (
	errNotBusy      = route.Refuse("NOTBUSY No scripts in execution right now.")
	errKillScript   = route.Refuse("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
	errKillFunction = route.Refuse("BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.")
)

// scriptKill is SCRIPT KILL.
func scriptKill(s *Session, dst []byte, _ [][]byte) []byte {
	return s.kill(dst, protocol.ScriptsRequest{EndScripts: true}, errKillFunction)
}

// functionKill is FUNCTION KILL.
func functionKill(s *Session, dst []byte, _ [][]byte) []byte {
	return s.kill(dst, protocol.ScriptsRequest{EndFunctions: true}, errKillScript)
}

// kill ends what runs, and says so as Redis does. others is the error if only the others run.
func (s *Session) kill(dst []byte, q protocol.ScriptsRequest, others error) []byte {
	running, silent := s.service.cluster.Scripts(s.conn.Server().Context(), q)
	ended := false
	for i := range running {
		ended = ended || running[i].Ended && (running[i].Function == "") == q.EndScripts
	}
	switch {
	case ended:
		return append(dst, resp.OK...)
	case len(running) > 0:
		return route.AppendReply(dst, others)
	case silent > 0:
		return resp.AppendError(dst, fmt.Sprintf("NOTBUSY No scripts in execution right now at the nodes that answer. %d of the nodes did not.", silent))
	}
	return route.AppendReply(dst, errNotBusy)
}
