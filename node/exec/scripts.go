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

// scripts keeps compiled scripts. The zero value is ready, and may be used by any goroutine.
type scripts struct {
	mu    sync.Mutex
	new   map[string]*compiled // by their text,
	old   map[string]*compiled // and those that were not used since new was full
	bytes int                  // of new
}

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

// find returns a script that is kept, nil if it is not.
func (s *scripts) find(text []byte) *compiled {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.new[string(text)]
	if c == nil && s.old[string(text)] != nil {
		c = s.old[string(text)]
		s.add(text, c)
	}
	return c
}

func (s *scripts) keep(text []byte, c *compiled) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(text, c)
}

// add adds a script to the new ones, which become the old ones when they are too many.
func (s *scripts) add(text []byte, c *compiled) {
	if s.bytes += len(text); s.new == nil || s.bytes > compiledBytes {
		s.old, s.new, s.bytes = s.new, make(map[string]*compiled), len(text)
	}
	s.new[string(text)] = c
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
