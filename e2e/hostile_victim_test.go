//go:build unix

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// victim is somebody who works while others attack: one key after the other is written and read.
type victim struct {
	t      *testing.T
	redis  *redis.Client
	keys   int
	failed int
	last   error
}

func newVictim(t *testing.T, address string) *victim {
	v := &victim{t: t, redis: redis.NewClient(&redis.Options{Addr: address, Password: hostilePassword, MaxRetries: -1, ReadTimeout: 10 * time.Second, PoolSize: 1})}
	t.Cleanup(func() { _ = v.redis.Close() })
	return v
}

// latency of commands.
type latency struct {
	commands int
	p50, p99 time.Duration
}

func (l latency) String() string {
	return fmt.Sprintf("%d commands, p50 %v, p99 %v", l.commands, l.p50.Round(time.Microsecond), l.p99.Round(time.Microsecond))
}

// work goes on for a while.
func (v *victim) work(d time.Duration) latency {
	var took []time.Duration
	for end := time.Now().Add(d); time.Now().Before(end); v.keys++ {
		key := fmt.Sprint("victim:", v.keys)
		for _, command := range []func() error{
			func() error { return v.redis.Set(v.t.Context(), key, v.keys, 0).Err() },
			func() error { return v.redis.Get(v.t.Context(), key).Err() },
		} {
			began := time.Now()
			if err := command(); err != nil {
				v.failed, v.last = v.failed+1, err
			}
			took = append(took, time.Since(began))
		}
	}
	return latencyOf(took)
}

func latencyOf(took []time.Duration) latency {
	slices.Sort(took)
	return latency{len(took), took[len(took)/2], took[len(took)*99/100]}
}

// requireNothingLost reads all that was written.
func (v *victim) requireNothingLost() {
	for i := range v.keys {
		value, err := v.redis.Get(v.t.Context(), fmt.Sprint("victim:", i)).Int()
		require.NoError(v.t, err)
		require.Equal(v.t, i, value)
	}
}

// newcomer is somebody who connects anew each time while others attack, with TLS: a handshake, a password, two commands.
type newcomer struct {
	h      hostileTargets
	took   []time.Duration
	failed int
	last   error
}

func (n *newcomer) work(ctx context.Context) {
	each(ctx, 20*time.Millisecond, func() {
		began := time.Now()
		if err := n.come(); err != nil {
			n.failed, n.last = n.failed+1, err
		}
		n.took = append(n.took, time.Since(began))
	})
}

func (n *newcomer) come() error {
	client := redis.NewClient(&redis.Options{
		Addr: n.h.secure, TLSConfig: n.h.stolen.config("alice", tls.VersionTLS13), Password: hostilePassword, MaxRetries: -1, DialTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
	})
	defer client.Close()
	ctx, key := n.h.t.Context(), fmt.Sprint("newcomer:", len(n.took))
	if err := client.Set(ctx, key, key, 0).Err(); err != nil {
		return err
	}
	value, err := client.Get(ctx, key).Result()
	if err == nil && value != key {
		err = fmt.Errorf("key %s has %q", key, value)
	}
	return err
}

func (n *newcomer) latency() latency { return latencyOf(n.took) }
