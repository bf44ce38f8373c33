package exec

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"encoding/hex"
	"sync"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/script"
)

// compiledBytes is about how many bytes of scripts are kept compiled.
const compiledBytes = 16 << 20

// cache keeps what texts were compiled to. The zero value is ready, and may be used by any goroutine.
type cache[T any] struct {
	mu    sync.Mutex
	new   map[string]*T // by their text,
	old   map[string]*T // and those that were not used since new was full
	bytes int           // of new
}

// find returns what is kept of a text, nil if nothing is. The text is borrowed.
func (s *cache[T]) find(text []byte) *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.new[string(text)]
	if c == nil && s.old[string(text)] != nil {
		c = s.old[string(text)]
		s.add(text, c)
	}
	return c
}

func (s *cache[T]) keep(text []byte, c *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(text, c)
}

// add adds to the new ones, which become the old ones when they are too many.
func (s *cache[T]) add(text []byte, c *T) {
	if s.bytes += len(text); s.new == nil || s.bytes > compiledBytes {
		s.old, s.new, s.bytes = s.new, make(map[string]*T), len(text)
	}
	s.new[string(text)] = c
}

// scripts keeps compiled scripts.
type scripts struct{ cache[compiled] }

// compiled is a script, and the name that Redis gives it.
type compiled struct {
	program *script.Program
	sha     string
}

// get returns a script, compiled. An error is the reply that says what is wrong with it. The text is borrowed.
func (s *scripts) get(text []byte) (*compiled, error) {
	if c := s.find(text); c != nil {
		return c, nil
	}
	program, err := script.Compile(text) // which may take long
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum(text) //nolint:gosec // as above
	c := &compiled{program, hex.EncodeToString(sum[:])}
	s.keep(text, c)
	return c, nil
}

// check appends the reply to SCRIPT LOAD script: the name of the script, or what is wrong with it. The proxy keeps it.
func (s *scripts) check(dst []byte, req *command.Request) []byte {
	if len(req.Args) != 3 {
		return resp.AppendError(dst, errCommand.Error())
	}
	c, err := s.get(req.Args[2])
	if err != nil {
		return resp.AppendError(dst, err.Error())
	}
	return resp.AppendBulk(dst, c.sha)
}
