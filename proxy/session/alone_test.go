package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestOneKeyNeedsNoBatch: what names one key only, several times, is sent as a command on this key, and LMPOP and ZMPOP in the form of one. All else is a batch, what is
// wrong included: the node says how.
func TestOneKeyNeedsNoBatch(t *testing.T) {
	for args, sent := range map[string]string{
		"LMPOP 1 a LEFT": "a LEFT", "lmpop 1 a right count 7": "a right 7", "ZMPOP 3 a a a MAX COUNT 2": "a MAX 2",
		"SMOVE a a x": "a a x", "LMOVE a a LEFT RIGHT": "a a LEFT RIGHT", "RPOPLPUSH a a": "a a", "PFMERGE a": "a", "PFMERGE a a a": "a a a",
		"SORT a": "a", "GEORADIUS a 1 2 3 m": "a 1 2 3 m",
		"ZMPOP 2 a {a}b MIN": "", "LMPOP 1 a UP": "", "LMPOP 1 a LEFT COUNT 0": "", "LMPOP 1 a LEFT COUNT 1 x": "", "ZMPOP 1 a MIN 7": "", "LMPOP 3 a LEFT": "",
		"SMOVE a {a}b x": "", "RENAME a a": "", "COPY a a": "", "SINTERSTORE a a": "", "SORT a STORE a": "", "MSETNX a 1": "",
	} {
		s, words := planner(), asArguments(args)
		s.route(command.Lookup(words[0]), words)
		require.Len(t, s.plan.batch.Ops, 1, args)
		req := s.plan.batch.Ops[0].Req
		if sent == "" {
			require.Equal(t, command.OpBatch, req.Op, args)
			continue
		}
		require.Equal(t, asArguments(sent), req.Args[1:], args)
		require.NotEqual(t, command.OpBatch, req.Op, args)
	}
}

// planner returns a session that can only plan.
func planner() *Session {
	return &Session{plan: newPlan(), service: &Service{cluster: proxytest.NewCluster()}}
}

func asArguments(text string) (args [][]byte) {
	for _, arg := range strings.Fields(text) {
		args = append(args, []byte(arg))
	}
	return args
}
