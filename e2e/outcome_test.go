//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/quolldb/quoll/internal/history"
)

// outcome is what a client knows of its command.
type outcome int

const (
	answered outcome = iota
	noEffect
	unknownOutcome
)

// outcomeOf takes the words that client libraries repeat a command on for what they
// must mean: nothing was done.
func outcomeOf(err error) outcome {
	var reply redis.Error
	var network *net.OpError
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		return answered
	case errors.As(err, &network) && network.Op == "dial":
		return noEffect
	case !errors.As(err, &reply), strings.HasPrefix(err.Error(), "UNKNOWN "):
		return unknownOutcome
	case strings.HasPrefix(err.Error(), "CLUSTERDOWN "), strings.HasPrefix(err.Error(), "TRYAGAIN "), strings.HasSuffix(err.Error(), "; nothing was done"):
		return noEffect
	}
	return answered
}

// What wordOf says of errors that are no replies.
const (
	clientTimeOut  = "client-time-out"
	connectionLost = "connection-lost"
)

// wordOf sorts the errors of commands: the word of the reply, or what happened to the
// connection.
func wordOf(err error) string {
	var reply redis.Error
	var network net.Error
	switch {
	case errors.As(err, &reply):
		word, _, _ := strings.Cut(err.Error(), " ")
		return word
	case errors.As(err, &network) && network.Timeout():
		return clientTimeOut
	case errors.As(err, &network), errors.Is(err, io.EOF):
		return connectionLost
	}
	return err.Error()
}

// replyOf is a reply as the history knows it.
func replyOf(value any, err error) string {
	switch {
	case errors.Is(err, redis.Nil):
		return history.Nil
	case err != nil:
		return err.Error()
	}
	return fmt.Sprint(value)
}
