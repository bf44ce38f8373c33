//go:build unix

package libraries

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	redigo "github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"github.com/valkey-io/valkey-go"
)

// goLibraries are those of this module's go.mod.
var goLibraries = []library{
	{"go-redis" + version("github.com/redis/go-redis/v9"), false, dialGoRedis(goredis.Options{})},
	{"go-redis" + version("github.com/redis/go-redis/v9") + ", `MaxRetries: -1`", true, dialGoRedis(goredis.Options{MaxRetries: -1})},
	{"redigo" + version("github.com/gomodule/redigo"), true, dialRedigo},
	{"rueidis" + version("github.com/redis/rueidis"), false, dialRueidis(rueidis.ClientOption{})},
	{"rueidis" + version("github.com/redis/rueidis") + ", `DisableRetry: true`", true, dialRueidis(rueidis.ClientOption{DisableRetry: true})},
	{"valkey-go" + version("github.com/valkey-io/valkey-go"), false, dialValkey(valkey.ClientOption{})},
	{"valkey-go" + version("github.com/valkey-io/valkey-go") + ", `DisableRetry: true`", true, dialValkey(valkey.ClientOption{DisableRetry: true})},
}

// version returns the version that go.mod has of a module, with a space before it.
func version(module string) string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return " (" + err.Error() + ")"
	}
	_, rest, _ := strings.Cut(string(text), module+" v")
	return " " + strings.Fields(rest)[0]
}

type goRedis struct{ *goredis.Client }

func dialGoRedis(options goredis.Options) func(*testing.T, string) client {
	return func(t *testing.T, port string) client {
		options := options
		options.Addr = "127.0.0.1:" + port
		c := goredis.NewClient(&options)
		t.Cleanup(func() { _ = c.Close() })
		return goRedis{c}
	}
}

func (c goRedis) set(key, value string) error {
	return c.Set(context.Background(), key, value, 0).Err()
}
func (c goRedis) get(key string) (string, error) { return c.Get(context.Background(), key).Result() }
func (c goRedis) incr(key string) error          { return c.Incr(context.Background(), key).Err() }
func (c goRedis) pipe(keys ...string) error      { return c.together(c.Pipelined, keys) }
func (c goRedis) tx(keys ...string) error        { return c.together(c.TxPipelined, keys) }

func (goRedis) together(run func(context.Context, func(goredis.Pipeliner) error) ([]goredis.Cmder, error), keys []string) error {
	ctx := context.Background()
	_, err := run(ctx, func(p goredis.Pipeliner) error {
		for _, key := range keys {
			p.Incr(ctx, key)
		}
		return nil
	})
	return err
}

func (c goRedis) scan(pattern string) (int, error) {
	seen := map[string]bool{}
	it := c.Scan(context.Background(), 0, pattern, 100).Iterator()
	for it.Next(context.Background()) {
		seen[it.Val()] = true
	}
	return len(seen), it.Err()
}

// redigoClient uses a pool, as redigo's documentation advises: a connection on which something went wrong is not used again.
type redigoClient struct{ *redigo.Pool }

func dialRedigo(t *testing.T, port string) client {
	pool := &redigo.Pool{MaxIdle: 1, Dial: func() (redigo.Conn, error) { return redigo.Dial("tcp", "127.0.0.1:"+port) }}
	t.Cleanup(func() { _ = pool.Close() })
	return redigoClient{pool}
}

func (c redigoClient) do(command string, args ...any) (any, error) {
	conn := c.Get()
	defer conn.Close()
	return conn.Do(command, args...)
}

func (c redigoClient) set(key, value string) error {
	_, err := c.do("SET", key, value)
	return err
}

func (c redigoClient) get(key string) (string, error) { return redigo.String(c.do("GET", key)) }

func (c redigoClient) incr(key string) error {
	_, err := c.do("INCR", key)
	return err
}

func (c redigoClient) pipe(keys ...string) error {
	conn := c.Get()
	defer conn.Close()
	for _, key := range keys {
		if err := conn.Send("INCR", key); err != nil {
			return err
		}
	}
	if err := conn.Flush(); err != nil {
		return err
	}
	var errs []error
	for range keys {
		_, err := conn.Receive()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c redigoClient) tx(keys ...string) error {
	conn := c.Get()
	defer conn.Close()
	errs := []error{conn.Send("MULTI")}
	for _, key := range keys {
		errs = append(errs, conn.Send("INCR", key))
	}
	_, err := conn.Do("EXEC")
	return errors.Join(append(errs, err)...)
}

func (c redigoClient) scan(pattern string) (int, error) {
	seen, cursor := map[string]bool{}, "0"
	for {
		page, err := redigo.Values(c.do("SCAN", cursor, "MATCH", pattern, "COUNT", 100))
		if err != nil {
			return 0, err
		}
		var keys []string
		if _, err := redigo.Scan(page, &cursor, &keys); err != nil {
			return 0, err
		}
		for _, key := range keys {
			seen[key] = true
		}
		if cursor == "0" {
			return len(seen), nil
		}
	}
}

type rueidisClient struct{ rueidis.Client }

func dialRueidis(options rueidis.ClientOption) func(*testing.T, string) client {
	return func(t *testing.T, port string) client {
		options := options
		options.InitAddress = []string{"127.0.0.1:" + port}
		c, err := rueidis.NewClient(options)
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return rueidisClient{c}
	}
}

func (c rueidisClient) set(key, value string) error {
	return c.Do(context.Background(), c.B().Set().Key(key).Value(value).Build()).Error()
}

func (c rueidisClient) get(key string) (string, error) {
	return c.Do(context.Background(), c.B().Get().Key(key).Build()).ToString()
}

func (c rueidisClient) incr(key string) error {
	return c.Do(context.Background(), c.B().Incr().Key(key).Build()).Error()
}

func (c rueidisClient) incrs(keys []string) (list []rueidis.Completed) {
	for _, key := range keys {
		list = append(list, c.B().Incr().Key(key).Build())
	}
	return list
}

func (c rueidisClient) pipe(keys ...string) error {
	return firstError(c.DoMulti(context.Background(), c.incrs(keys)...))
}

func (c rueidisClient) tx(keys ...string) error {
	return c.Dedicated(func(d rueidis.DedicatedClient) error {
		list := append([]rueidis.Completed{d.B().Multi().Build()}, c.incrs(keys)...)
		replies := d.DoMulti(context.Background(), append(list, d.B().Exec().Build())...)
		return replies[len(replies)-1].Error()
	})
}

func (c rueidisClient) scan(pattern string) (int, error) {
	seen := map[string]bool{}
	for cursor := uint64(0); ; {
		page, err := c.Do(context.Background(), c.B().Scan().Cursor(cursor).Match(pattern).Count(100).Build()).AsScanEntry()
		if err != nil {
			return 0, err
		}
		for _, key := range page.Elements {
			seen[key] = true
		}
		if cursor = page.Cursor; cursor == 0 {
			return len(seen), nil
		}
	}
}

func firstError[R interface{ Error() error }](replies []R) error {
	for _, r := range replies {
		if err := r.Error(); err != nil {
			return err
		}
	}
	return nil
}
