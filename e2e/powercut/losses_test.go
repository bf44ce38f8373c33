//go:build linux

package powercut

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// losses counts acknowledged writes that are not there, and keys that cannot be read.
type losses struct{ writes, increments, unreadable int64 }

func (l *losses) add(other losses) {
	l.writes += other.writes
	l.increments += other.increments
	l.unreadable += other.unreadable
}

func (l losses) String() string {
	return fmt.Sprintf("%d writes and %d increments are lost, %d keys cannot be read", l.writes, l.increments, l.unreadable)
}

// compare reads back everything that clients were told. A value that nobody wrote fails the
// test.
func (s snapshot) compare(t *testing.T, client *redis.Client) (lost losses) {
	t.Helper()
	for _, k := range s {
		lost.add(k.compareCounter(t, client))
		for numbers := range slices.Chunk(k.keys, 200) {
			lost.add(k.compareKeys(t, client, numbers))
		}
	}
	return lost
}

func (k known) compareCounter(t *testing.T, client *redis.Client) (lost losses) {
	t.Helper()
	reply := read(t, client, counter(k.id))[0]
	count, err := reply.Int64()
	switch {
	case errors.Is(err, redis.Nil):
		lost.increments = k.count
	case reply.Err() != nil:
		lost.unreadable++
	default:
		require.NoError(t, err)
		lost.increments = max(0, k.count-count)
	}
	return lost
}

func (k known) compareKeys(t *testing.T, client *redis.Client, numbers []int) (lost losses) {
	t.Helper()
	var keys []string
	for _, number := range numbers {
		keys = append(keys, key(k.id, number))
	}
	for i, reply := range read(t, client, keys...) {
		switch value, err := reply.Result(); {
		case errors.Is(err, redis.Nil):
			lost.writes++
		case err != nil:
			lost.unreadable++
		case value != valueOf(k.id, numbers[i]):
			require.FailNow(t, "a value that nobody wrote", "%s holds %.100q", keys[i], value)
		}
	}
	return lost
}

// read reads keys, which may take some attempts while nodes find each other.
func read(t *testing.T, client *redis.Client, keys ...string) (replies []*redis.StringCmd) {
	t.Helper()
	for range 10 {
		pipe := client.Pipeline()
		replies = nil
		for _, key := range keys {
			replies = append(replies, pipe.Get(t.Context(), key))
		}
		_, _ = pipe.Exec(t.Context()) // every reply has its own error
		failed := func(reply *redis.StringCmd) bool { return reply.Err() != nil && !errors.Is(reply.Err(), redis.Nil) }
		if !slices.ContainsFunc(replies, failed) {
			return replies
		}
		time.Sleep(100 * time.Millisecond)
	}
	return replies
}
