package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/quolldb/quoll/internal/history"
)

// answer is a reply: a value or number as text, or null.
type answer struct {
	text string
	null bool
}

// String shows it in a message.
func (a answer) String() string {
	if a.null {
		return "nothing"
	}
	return fmt.Sprintf("%.60q", a.text)
}

// store is what is verified. Do sends a command to one of its addresses once, and waits for the answer. The error is nil, wraps
// errUnknown, or says why nothing was done.
type store interface {
	addresses() int
	do(ctx context.Context, address int, args ...any) (answer, error)
}

// errUnknown: nobody knows what became of a command.
var errUnknown = errors.New("the outcome is not known")

// redisStore is a store behind go-redis, with a client for each address.
type redisStore struct{ clients []*redis.Client }

const (
	dialTimeout  = time.Second
	replyTimeout = 3 * time.Second
)

func newRedisStore(opt Options) *redisStore {
	redis.SetLogger(silent{})
	s := &redisStore{}
	for _, address := range opt.Addresses {
		s.clients = append(s.clients, redis.NewClient(&redis.Options{
			Addr: address, Password: opt.Password, Protocol: 2, DisableIdentity: true,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			ContextTimeoutEnabled:    true,
			MaxRetries:               -1, // a repeated write is another write
			DialerRetries:            1, DialTimeout: dialTimeout, ReadTimeout: replyTimeout, WriteTimeout: replyTimeout, PoolSize: opt.Clients + 1,
		}))
	}
	return s
}

// silent keeps go-redis from writing to standard error: that connections are lost is what is expected here.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func (s *redisStore) addresses() int { return len(s.clients) }

func (s *redisStore) close() {
	for _, client := range s.clients {
		_ = client.Close() // nothing is under way
	}
}

func (s *redisStore) do(ctx context.Context, address int, args ...any) (answer, error) {
	value, err := s.clients[address].Do(ctx, args...).Result()
	if err != nil {
		return answer{null: true}, classify(err)
	}
	switch v := value.(type) {
	case string:
		return answer{text: v}, nil
	case int64:
		return answer{text: strconv.FormatInt(v, 10)}, nil
	}
	return answer{text: fmt.Sprintf("%v", value)}, nil
}

// classify says whether a command that failed did nothing. Null is no failure.
func classify(err error) error {
	var reply redis.Error
	var network *net.OpError
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case errors.As(err, &reply):
		if strings.HasPrefix(reply.Error(), "UNKNOWN ") {
			return fmt.Errorf("%w: %w", errUnknown, err)
		}
		return err
	case errors.As(err, &network) && network.Op == "dial", errors.Is(err, redis.ErrPoolTimeout):
		return err
	}
	return fmt.Errorf("%w: %w", errUnknown, err)
}

// isNotInteger reports whether an error is the answer to INCR of something else than a number, which is as good as a value.
func isNotInteger(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), history.NotInteger)
}

// explain says in a line why an address cannot be verified.
func explain(address string, err error) error {
	var reply redis.Error
	var network *net.OpError
	switch {
	case errors.As(err, &reply) && strings.HasPrefix(reply.Error(), "NOAUTH"):
		return fmt.Errorf("%s wants a password: give --password-file", address)
	case errors.As(err, &reply) && strings.HasPrefix(reply.Error(), "WRONGPASS"), errors.As(err, &reply) && strings.Contains(reply.Error(), "AUTH"):
		return fmt.Errorf("%s does not take the password: %w", address, err)
	case errors.As(err, &reply):
		return fmt.Errorf("%s refuses a write: %w", address, err)
	case errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("cannot connect to %s: %w; is a proxy or server listening there?", address, network.Err)
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, io.EOF), errors.As(err, &network):
		return fmt.Errorf("%s does not answer as a Redis server does: %w", address, err)
	}
	return fmt.Errorf("%s is not a Redis server: %w", address, err)
}
