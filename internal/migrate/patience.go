package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// patience is how long it is tried again what may succeed later: as long as nodes take to restart.
	patience  = time.Minute
	firstRest = 50 * time.Millisecond
	maxRest   = 2 * time.Second
)

// passing are the first words of errors that go away, and after which the same command may be sent again.
var passing = []string{"LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "UNKNOWN", "NOTDONE", "MASTERDOWN", "ERR max number of clients reached"}

// hopeless are those that no other key will be spared.
var hopeless = []string{"NOAUTH", "WRONGPASS", "NOPERM", "MISCONF", "OOM", "READONLY", "MOVED", "ASK", "CROSSSLOT", "ERR unknown command"}

// isAnswer reports whether an error is an answer of the server, in contrast to none.
func isAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

func begins(err error, words []string) bool {
	for _, word := range words {
		if text := err.Error(); text == word || strings.HasPrefix(text, word+" ") {
			return true
		}
	}
	return false
}

// passes reports whether it may be otherwise a moment later: the server says so, or the connection was lost.
func passes(err error) bool { return !isAnswer(err) || begins(err, passing) }

// patiently does something until it succeeds, the error is one that stays, or the patience is at its end.
func patiently(ctx context.Context, do func() error) error {
	end, rest := time.Now().Add(patience), firstRest
	for {
		err := do()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !passes(err):
			return inWords(err)
		case time.Now().After(end):
			return fmt.Errorf("it was tried for %s: %w", patience, inWords(err))
		}
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		rest = min(2*rest, maxRest)
	}
}

// inWords adds what to do about an error, as far as that is known.
func inWords(err error) error {
	switch {
	case !isAnswer(err):
		return err
	case begins(err, []string{"NOAUTH", "WRONGPASS"}):
		return fmt.Errorf("%w; give the password, of a Redis in its URL, of the cluster with --password-file", err)
	case begins(err, []string{"NOPERM", "ERR unknown command"}):
		return fmt.Errorf("%w; the user must be allowed SCAN, DUMP, PTTL, or RESTORE for the target", err)
	case begins(err, []string{"MOVED", "ASK", "CROSSSLOT"}):
		return fmt.Errorf("%w; it is a node of a Redis Cluster, which takes the keys of its own slots only", err)
	case begins(err, []string{"MISCONF", "OOM"}):
		return fmt.Errorf("%w; make room, and go on", err)
	}
	return err
}
