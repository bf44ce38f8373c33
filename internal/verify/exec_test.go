package verify

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTransactions: one of two commands, which is sent command by command, and then in one piece.
func TestTransactions(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []string
		want    []answer
		refused string // what the error says
		unknown bool
	}{
		"done":                       {answers: []string{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n$1\r\n7\r\n*2\r\n+a\r\n$1\r\nb\r\n"}, want: []answer{{text: "7"}, {text: "a b"}}},
		"a watched key had changed":  {answers: []string{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*-1\r\n"}},
		"a command is refused":       {answers: []string{"+OK\r\n", "-ERR no\r\n", "+QUEUED\r\n", "-EXECABORT because\r\n"}, refused: "ERR no"},
		"EXEC is refused":            {answers: []string{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "-CLUSTERDOWN no\r\n"}, refused: "CLUSTERDOWN no"},
		"EXEC is unknown":            {answers: []string{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "-UNKNOWN who knows\r\n"}, unknown: true},
		"an error among the answers": {answers: []string{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n-WRONGTYPE no\r\n:1\r\n"}, unknown: true},
		"done though a part was not": {answers: []string{"+OK\r\n", "-ERR no\r\n", "+QUEUED\r\n", "*1\r\n+OK\r\n"}, unknown: true},
		"EXEC has no answer":         {answers: []string{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "hang up"}, unknown: true},
		"EXEC has another answer":    {answers: []string{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "+OK\r\n"}, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(t, append(tc.answers, tc.answers...)...)
			h := hold(t, s)
			for range 2 {
				got, err := h.exec(t.Context(), []any{"GET", "a"}, []any{"LRANGE", "b", 0, -1})
				require.Equal(t, tc.want, got)
				switch {
				case tc.unknown:
					require.ErrorIs(t, err, errUnknown)
				case tc.refused != "":
					require.EqualError(t, err, tc.refused)
				default:
					require.NoError(t, err)
				}
				if h.c == nil { // it was of no use any more: the next one on a new one
					h = hold(t, s)
					h.c.transactions = 1
				}
			}
			h.end()
		})
	}
}

func hold(t *testing.T, s *servers) *held {
	h, err := s.hold(t.Context(), 0)
	require.NoError(t, err)
	return h.(*held)
}

// TestWhatIsLostBeforeEXECIsNotDone, if EXEC was not sent yet.
func TestWhatIsLostBeforeEXECIsNotDone(t *testing.T) {
	answers := []string{"+OK\r\n", "hang up"}
	h := hold(t, scripted(t, answers...))
	_, err := h.exec(t.Context(), []any{"SET", "a", 1})
	require.Error(t, err)
	require.NotErrorIs(t, err, errUnknown)

	h = hold(t, scripted(t, answers...))
	h.c.transactions = 1 // so that the next one is sent in one piece
	_, err = h.exec(t.Context(), []any{"SET", "a", 1})
	require.ErrorIs(t, err, errUnknown)
}

// TestRefusedMULTIBeginsNothing: what follows would be done one by one.
func TestRefusedMULTIBeginsNothing(t *testing.T) {
	s := scripted(t, "-ERR no\r\n", "+PONG\r\n")
	h := hold(t, s)
	_, err := h.exec(t.Context(), []any{"SET", "a", 1})
	require.EqualError(t, err, "ERR no")
	reply, err := h.do(t.Context(), "PING")
	require.NoError(t, err)
	require.Equal(t, "PONG", reply.text)
	h.end()
	require.Len(t, s.each[0].idle, 1)
}

// TestWatchedConnectionsAreNotGivenBack: the next one who takes it would watch the same keys.
func TestWatchedConnectionsAreNotGivenBack(t *testing.T) {
	s := scripted(t, "+OK\r\n", "+OK\r\n", "+QUEUED\r\n", "*-1\r\n", "+OK\r\n")
	h := hold(t, s)
	_, err := h.do(t.Context(), "WATCH", "a")
	require.NoError(t, err)
	_, err = h.exec(t.Context(), []any{"GET", "a"})
	require.NoError(t, err)
	h.end()
	require.Len(t, s.each[0].idle, 1)
	h = hold(t, s)
	_, err = h.do(t.Context(), "WATCH", "a")
	require.NoError(t, err)
	h.end()
	require.Empty(t, s.each[0].idle)
}
