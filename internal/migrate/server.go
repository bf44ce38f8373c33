package migrate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	dialTimeout = 5 * time.Second
	// replyTimeout is how long a pipeline may take. A cluster that has too much to do answers later, and is waited for.
	replyTimeout = 2 * time.Minute
	// usualLongest is the longest argument that a Redis takes, if it does not say so itself.
	usualLongest = 512 << 20
)

// Server is one end of a copy: a Redis, or a cluster behind one or several addresses.
type Server struct {
	name    string
	clients []*redis.Client
	db      int
	// longest is how long an argument may be.
	longest int
	// exact: it knows PEXPIRETIME. blind: it does not tell how large a value is.
	exact, blind bool
	runID        string
}

func init() { redis.SetLogger(&logging.VoidLogger{}) } // its errors are returned, too

// Access is how one gets in at an end of a copy.
type Access struct {
	// Password is what it wants, if it does.
	Password string
	// Dial connects to it, as [net.Dialer.DialContext] does. Nil: by TCP, or as its URL says.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Connect connects to a cluster, or a server, at one address or several. It blocks until all have answered. The caller closes it.
func Connect(ctx context.Context, addresses []string, number int, access Access) (*Server, error) {
	s := &Server{name: strings.Join(addresses, ","), db: number}
	if number > 0 {
		s.name += "/" + strconv.Itoa(number)
	}
	for _, address := range addresses {
		s.add(&redis.Options{Addr: address, DB: number, Password: access.Password, Dialer: access.Dial})
	}
	return s.greet(ctx)
}

// ConnectURL connects to a server that is given as redis://[user:password@]host:port[/db], with rediss:// for TLS, or unix:///path?db=0. A password that
// is not empty counts instead of that in the URL. The caller closes it. Errors wrap ErrURL if it is none.
func ConnectURL(ctx context.Context, text string, access Access) (*Server, error) {
	opt, err := redis.ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("%w %q: it is not redis://[user:password@]host:port[/db], rediss:// or unix://", ErrURL, redacted(text))
	}
	if access.Password != "" {
		opt.Password = access.Password
	}
	opt.Dialer = access.Dial
	s := &Server{name: opt.Addr, db: opt.DB}
	s.add(opt)
	return s.greet(ctx)
}

// ErrURL is the error for an address that is none.
var ErrURL = errors.New("migrate: bad URL")

// redacted is a URL without its password.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "…"
	}
	return u.Redacted()
}

func (s *Server) add(opt *redis.Options) {
	opt.Protocol, opt.DisableIdentity = 2, true
	opt.MaxRetries = -1 // what is repeated, and what not, is said here
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = dialTimeout, replyTimeout, replyTimeout
	opt.ContextTimeoutEnabled = true
	opt.PoolSize = maxConnections + 1
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	s.clients = append(s.clients, redis.NewClient(opt))
}

// Close closes all connections.
func (s *Server) Close() {
	for _, c := range s.clients {
		_ = c.Close()
	}
}

// String returns its address, without a password.
func (s *Server) String() string { return s.name }

// Longest returns how many bytes a value may have as it is dumped.
func (s *Server) Longest() int { return s.longest }

// client returns the connections of a worker.
func (s *Server) client(worker int) *redis.Client { return s.clients[worker%len(s.clients)] }

// greet makes sure that every address answers, and finds out what the server can do.
func (s *Server) greet(ctx context.Context) (*Server, error) {
	for _, c := range s.clients {
		if err := c.Ping(ctx).Err(); err != nil {
			s.Close()
			return nil, fmt.Errorf("%s: %w", c.Options().Addr, inWords(err))
		}
	}
	c := s.clients[0]
	s.longest = usualLongest
	if limits, err := c.ConfigGet(ctx, "proto-max-bulk-len").Result(); err == nil { // who forbids CONFIG has the usual one
		if n, err := strconv.Atoi(limits["proto-max-bulk-len"]); err == nil {
			s.longest = n
		}
	}
	s.exact = c.PExpireTime(ctx, "quoll").Err() == nil
	s.blind = errorOf(c.MemoryUsage(ctx, "quoll").Err()) != nil
	s.runID = s.info(ctx, "server")["run_id"]
	return s, nil
}

// errorOf is an error but for that which says that there is no such key.
func errorOf(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// info returns a section of INFO, nothing if there is none.
func (s *Server) info(ctx context.Context, section string) map[string]string {
	text, _ := s.clients[0].Info(ctx, section).Result()
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			fields[name] = value
		}
	}
	return fields
}

// elsewhere returns how many keys there are in other databases.
func (s *Server) elsewhere(ctx context.Context) (keys uint64) {
	for name, value := range s.info(ctx, "keyspace") {
		if name == "db"+strconv.Itoa(s.db) || !strings.HasPrefix(name, "db") {
			continue
		}
		count, _, _ := strings.Cut(strings.TrimPrefix(value, "keys="), ",")
		n, _ := strconv.ParseUint(count, 10, 64)
		keys += n
	}
	return keys
}

// size returns how many keys there are, 0 if that is not told.
func (s *Server) size(ctx context.Context) uint64 {
	n, _ := s.clients[0].DBSize(ctx).Result()
	return uint64(max(n, 0))
}
