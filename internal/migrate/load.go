package migrate

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/quolldb/quoll/internal/rdb"
)

const (
	// groupBytes is how much a pipeline carries: both servers hold it in memory for each connection.
	groupBytes = 8 << 20
	// blindKeys is how many keys are in a pipeline if nobody says how large they are.
	blindKeys = 16
)

// load reads the values of keys, in their order, and hands them over in groups of about groupBytes. An item without a payload is not there any more.
func (s *Server) load(ctx context.Context, worker int, keys []string, each func([]item) error) error {
	sizes, err := s.sizes(ctx, worker, keys)
	if err != nil {
		return err
	}
	for begin := 0; begin < len(keys); {
		end, bytes := begin, int64(0)
		for end < len(keys) && (end == begin || bytes+sizes[end] <= groupBytes) {
			bytes += sizes[end]
			end++
		}
		items, err := s.dump(ctx, worker, keys[begin:end])
		if err == nil {
			err = each(items)
		}
		if err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// sizes returns about how many bytes each of the keys is.
func (s *Server) sizes(ctx context.Context, worker int, keys []string) ([]int64, error) {
	sizes := make([]int64, len(keys))
	if s.blind {
		for i := range sizes {
			sizes[i] = groupBytes / blindKeys
		}
		return sizes, nil
	}
	return sizes, patiently(ctx, func() error {
		pipe := s.client(worker).Pipeline()
		commands := make([]*redis.IntCmd, len(keys))
		for i, key := range keys {
			commands[i] = pipe.MemoryUsage(ctx, key)
		}
		_, _ = pipe.Exec(ctx) // each has its error
		for i, c := range commands {
			if err := errorOf(c.Err()); err != nil {
				return err
			}
			sizes[i] = c.Val()
		}
		return nil
	})
}

// dump reads the values of keys.
func (s *Server) dump(ctx context.Context, worker int, keys []string) (items []item, err error) {
	return items, patiently(ctx, func() error {
		pipe := s.client(worker).Pipeline()
		dumps, times := make([]*redis.StringCmd, len(keys)), make([]*redis.Cmd, len(keys))
		expiry := "PTTL" // a time.Duration, which go-redis makes of it, ends in the year 2262
		if s.exact {
			expiry = "PEXPIRETIME"
		}
		for i, key := range keys {
			dumps[i] = pipe.Dump(ctx, key)
			times[i] = pipe.Do(ctx, expiry, key)
		}
		now := time.Now()
		_, _ = pipe.Exec(ctx) // each has its error
		items = make([]item, len(keys))
		for i, key := range keys {
			items[i] = item{key: key}
			if err := errorOf(dumps[i].Err()); err != nil {
				if passes(err) || begins(err, hopeless) {
					return err
				}
				items[i].fault = err
				continue
			}
			at, err := times[i].Int64()
			if err != nil {
				return err
			}
			if at > 0 && !s.exact {
				at += now.UnixMilli()
			}
			items[i].expireAt = max(at, 0)
			items[i].payload = dumps[i].Val()
			if payload := items[i].payload; payload != "" {
				_, items[i].fault = rdb.KindOf([]byte(payload[:min(len(payload), 10)]))
			}
		}
		return nil
	})
}
