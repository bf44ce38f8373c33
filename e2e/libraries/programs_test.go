//go:build unix

package libraries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bsm/redislock"
	redisrate "github.com/go-redis/redis_rate/v10"
	"github.com/go-redsync/redsync/v4"
	redsyncpool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// Programs that are built on scripts and transactions do their job while the nodes of a cluster are killed and restarted, one after the other.

// underKills runs a program while nodes are killed. It goes on with its job until over reports that all have been.
func underKills(t *testing.T, program func(proxies []string, over func() bool)) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger"})
	var over atomic.Bool
	var job sync.WaitGroup
	job.Go(func() { program(c.Clients(), over.Load) })
	for _, node := range c.Nodes {
		node.Kill()
		node.Start()
		node.AwaitReady()
	}
	over.Store(true)
	job.Wait()
}

// dialPrograms returns a client of a proxy, with the settings of docs/clients.md: it repeats nothing by itself.
func dialPrograms(t *testing.T, address string) *goredis.Client {
	client := goredis.NewClient(&goredis.Options{Addr: address, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// exclusive has workers enter a section one by one, by a lock that either of two proxies may be asked for. A lock whose outcome is unknown is free again when its time is over.
func exclusive(t *testing.T, proxies []string, over func() bool, locker func(client *goredis.Client) (lock func(ctx context.Context) (unlock func(context.Context) error, err error))) {
	var inside, entered atomic.Int32
	var workers sync.WaitGroup
	for i := range 6 {
		lock := locker(dialPrograms(t, proxies[i%len(proxies)]))
		workers.Go(func() {
			for entered.Load() < 300 || !over() {
				unlock, err := lock(t.Context())
				if err != nil {
					continue
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d workers are inside", n)
				}
				entered.Add(1)
				inside.Add(-1)
				_ = unlock(t.Context())
			}
		})
	}
	workers.Wait()
}

// lockTime is for how long a lock is held at most, which is far longer than a worker needs it.
const lockTime = 2 * time.Second

func TestRedislock(t *testing.T) {
	underKills(t, func(proxies []string, over func() bool) {
		exclusive(t, proxies, over, func(client *goredis.Client) func(context.Context) (func(context.Context) error, error) {
			locker := redislock.New(client)
			return func(ctx context.Context) (func(context.Context) error, error) {
				lock, err := locker.Obtain(ctx, "lock", lockTime, &redislock.Options{RetryStrategy: redislock.LinearBackoff(5 * time.Millisecond)})
				if err != nil {
					return nil, err
				}
				return lock.Release, nil
			}
		})
	})
}

func TestRedsync(t *testing.T) {
	underKills(t, func(proxies []string, over func() bool) {
		exclusive(t, proxies, over, func(client *goredis.Client) func(context.Context) (func(context.Context) error, error) {
			sync := redsync.New(redsyncpool.NewPool(client))
			return func(ctx context.Context) (func(context.Context) error, error) {
				mutex := sync.NewMutex("mutex", redsync.WithExpiry(lockTime), redsync.WithRetryDelay(5*time.Millisecond))
				return func(ctx context.Context) error { _, err := mutex.UnlockContext(ctx); return err }, mutex.LockContext(ctx)
			}
		})
	})
}

// TestRedisRate: a limit is never exceeded, and is reached.
func TestRedisRate(t *testing.T) {
	const limit = 500
	underKills(t, func(proxies []string, over func() bool) {
		var allowed, unknown atomic.Int32
		var workers sync.WaitGroup
		for i := range 6 {
			limiter := redisrate.NewLimiter(dialPrograms(t, proxies[i%len(proxies)]))
			workers.Go(func() {
				for refused := 0; refused < 100 || !over(); {
					result, err := limiter.Allow(t.Context(), "api", redisrate.PerHour(limit))
					switch {
					case err != nil:
						unknown.Add(1)
					case result.Allowed > 0:
						allowed.Add(1)
					default:
						refused++
					}
				}
			})
		}
		workers.Wait()
		require.LessOrEqual(t, allowed.Load(), int32(limit+60), "as many as come back in minutes")
		require.GreaterOrEqual(t, allowed.Load()+unknown.Load(), int32(limit))
	})
}

// TestAsynq: each task is executed, at least once, as asynq promises.
func TestAsynq(t *testing.T) {
	const least = 300
	underKills(t, func(proxies []string, over func() bool) {
		client := asynq.NewClient(asynq.RedisClientOpt{Addr: proxies[0]})
		defer func() { _ = client.Close() }()
		server := asynq.NewServer(asynq.RedisClientOpt{Addr: proxies[1]}, asynq.Config{Concurrency: 8, LogLevel: asynq.FatalLevel, TaskCheckInterval: 100 * time.Millisecond,
			RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 10 * time.Millisecond }})
		var done sync.Map
		var different atomic.Int32
		require.NoError(t, server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
			if _, again := done.LoadOrStore(string(task.Payload()), true); !again {
				different.Add(1)
			}
			return nil
		})))
		defer server.Shutdown()
		tasks := 0
		for ; tasks < least || !over(); tasks++ {
			for {
				_, err := client.Enqueue(asynq.NewTask("count", []byte(strconv.Itoa(tasks))), asynq.TaskID(fmt.Sprint("task-", tasks)), asynq.MaxRetry(50), asynq.Timeout(5*time.Second))
				if err == nil || errors.Is(err, asynq.ErrTaskIDConflict) { // it is there: an outcome that was not known is known now
					break
				}
			}
		}
		// A task whose worker was told that it is unknown whether it has taken it is taken back when its lease is over, half a minute later, and somebody looks, which is once a minute.
		require.Eventually(t, func() bool { return int(different.Load()) == tasks }, 3*time.Minute, 10*time.Millisecond)
	})
}

// TestRedisPyPrograms: locks, transactions, pipelines and sessions of redis-py, with its default settings.
func TestRedisPyPrograms(t *testing.T) { pythonUnderKills(t, "testdata/redis_py_programs.py") }

// TestRedisPyChat: who is in a room of a chat hears all that is said there, in one order, over whatever proxy.
func TestRedisPyChat(t *testing.T) { pythonUnderKills(t, "testdata/redis_py_chat.py") }

// pythonUnderKills runs a program with redis-py, which is told the ports of the proxies, until its input ends.
func pythonUnderKills(t *testing.T, file string) {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import redis").Run(); err != nil {
		t.Skip("python3-redis is not installed")
	}
	underKills(t, func(proxies []string, over func() bool) {
		args := []string{file}
		for _, proxy := range proxies {
			_, port, _ := net.SplitHostPort(proxy)
			args = append(args, port)
		}
		program := exec.Command(python, args...)
		in, err := program.StdinPipe()
		if err != nil {
			t.Error(err)
			return
		}
		var said bytes.Buffer
		program.Stdout, program.Stderr = &said, &said
		if err := program.Start(); err != nil {
			t.Error(err)
			return
		}
		for !over() {
			time.Sleep(10 * time.Millisecond) // nodes are being killed
		}
		_ = in.Close() // its end
		if err := program.Wait(); err != nil {
			t.Errorf("%v: %s", err, said.String())
		}
		t.Log(said.String())
	})
}
