package migrate

import (
	"context"
	"fmt"
	"io"
	"strconv"
)

// Source is where keys come from. Its methods but load are called by one goroutine.
type Source interface {
	// identity says what it is, as long as a position means the same thing.
	identity() string
	// seek goes to a position that a batch had; "" is the beginning.
	seek(ctx context.Context, position string) error
	// next returns the next batch; io.EOF behind the last one.
	next(ctx context.Context) (*batch, error)
	// load hands over the items of a batch, in groups that fit into a pipeline. It is called by the workers.
	load(ctx context.Context, worker int, b *batch, each func([]item) error) error
	// again hands over keys as they are now. ok is false where that cannot be asked.
	again(ctx context.Context, keys []string, each func([]item) error) (ok bool, err error)
	// share returns how much of the whole a number of keys is, and how many keys there are, 0 if that is not known.
	share(keys uint64) (share float64, total uint64)
	// functions returns the codes of the libraries of functions, once all is read.
	functions(ctx context.Context) (codes []string, err error)
	// elsewhere returns how many keys it has in other databases, once all is read.
	elsewhere(ctx context.Context) uint64
	// String says where they come from.
	String() string
}

// batch is what a worker takes at a time.
type batch struct {
	// after is the position behind it, "" if there is none between it and the next one.
	after string
	// keys are those of a server, whose values are read later; items those of a file.
	keys  []string
	items []item
}

const (
	// batchKeys is how many keys a batch has at most.
	batchKeys = 256
	// scanCount is how many keys SCAN returns, about: one goroutine waits for it, and all workers for what it finds. It takes a Redis some tenths of a millisecond.
	scanCount = 8 * batchKeys
)

// serverSource are the keys of a server.
type serverSource struct {
	*Server
	cursor uint64
	ended  bool
	page   []string // of what SCAN returned, what is not handed out
	total  uint64
}

// From returns the keys of a server, of its one database.
func From(ctx context.Context, s *Server) Source {
	return &serverSource{Server: s, total: s.size(ctx)}
}

func (s *serverSource) identity() string {
	return fmt.Sprintf("%s, database %d, run %s", s.name, s.db, s.runID)
}

// atEnd is the position behind all keys: the cursor there is that of the beginning.
const atEnd = "end"

func (s *serverSource) seek(_ context.Context, position string) (err error) {
	switch position {
	case "":
	case atEnd:
		s.ended = true
	default:
		s.cursor, err = strconv.ParseUint(position, 10, 64)
	}
	return err
}

func (s *serverSource) next(ctx context.Context) (*batch, error) {
	if len(s.page) == 0 {
		if s.ended {
			return nil, io.EOF
		}
		if err := s.scan(ctx); err != nil {
			return nil, err
		}
	}
	n := min(batchKeys, len(s.page))
	b := &batch{keys: s.page[:n]}
	s.page = s.page[n:]
	switch {
	case len(s.page) > 0:
	case s.ended:
		b.after = atEnd
	default:
		b.after = strconv.FormatUint(s.cursor, 10)
	}
	return b, nil
}

// scan reads the next page, which may be empty.
func (s *serverSource) scan(ctx context.Context) error {
	return patiently(ctx, func() (err error) {
		page, cursor, err := s.clients[0].Scan(ctx, s.cursor, "", scanCount).Result()
		if err == nil {
			s.page, s.cursor, s.ended = page, cursor, cursor == 0
		}
		return err
	})
}

func (s *serverSource) load(ctx context.Context, worker int, b *batch, each func([]item) error) error {
	return s.Server.load(ctx, worker, b.keys, each)
}

func (s *serverSource) again(ctx context.Context, keys []string, each func([]item) error) (bool, error) {
	return true, s.Server.load(ctx, 0, keys, each)
}

func (s *serverSource) share(keys uint64) (float64, uint64) {
	return float64(keys) / float64(max(s.total, 1)), s.total
}
