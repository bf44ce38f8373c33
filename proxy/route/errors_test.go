package route

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol/answer"
)

// TestRetryWords: client libraries repeat commands on these words, so nothing that
// may have had an effect may begin with one.
func TestRetryWords(t *testing.T) {
	for _, err := range []*ReplyError{ErrNotReady, ErrNoMajority, ErrTimeout, ErrOverloaded, ErrUnknownOutcome,
		errPartlyFlushed} {
		word, _, _ := strings.Cut(err.Error(), " ")
		switch word {
		case "CLUSTERDOWN", "TRYAGAIN", "LOADING", "READONLY", "MASTERDOWN", "NOREPLICAS":
			require.Equal(t, answer.NotDone, err.Outcome, err)
			require.Contains(t, err.Error(), "nothing was done")
		default:
			require.Equal(t, answer.Unknown, err.Outcome, err)
		}
	}
}

// TestTheWordForAFullDisk is Redis', and none on which clients repeat by themselves: they
// would do so for hours.
func TestTheWordForAFullDisk(t *testing.T) {
	require.True(t, strings.HasPrefix(ErrStorageFull.Error(), "MISCONF "))
	require.Contains(t, ErrStorageFull.Error(), "nothing was done")
	require.Equal(t, answer.NotDone, ErrStorageFull.Outcome)
}

func TestAppendReply(t *testing.T) {
	detailed := fmt.Errorf("%w (slot 7)", ErrNoMajority)
	require.Equal(t, "-"+ErrNoMajority.Error()+" (slot 7)\r\n", string(AppendReply(nil, detailed)))
	require.Equal(t, "-ERR odd  thing\r\n", string(AppendReply(nil, errors.New("odd\r\nthing"))))
}
