package session

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// Libraries of functions are kept in the cluster, all under one key that no client sees, a hash: so every proxy finds what another one has loaded, and two that load libraries at the same
// time notice. A proxy that has looked at them takes them for what is there for a moment; only what it does not find it looks for at once.

// functionsFresh is for how long a proxy does not look again at the libraries.
const functionsFresh = time.Second

// libraries is the key of the hash of all libraries.
var libraries = []byte(database.Prefix + "functions")

// functions are those that a proxy knows. Any goroutine may use them.
type functions struct {
	mu      sync.Mutex
	all     map[string]*callable // by their names in small letters
	set     *function.Set
	version []byte // of the hash
	seen    time.Time
	changes int // that this proxy has made: what was read before one is not kept

	reading sync.Mutex // one reads all libraries at a time
}

// callable is a function that can be called, which does not change but for that it turns out to use keys that it was not given. The nil one is not there.
type callable struct {
	*function.Function
	code    []byte
	guesses atomic.Bool
}

// fresh returns a function as it was seen just now, nil if it was not, and whether a call of it can be planned: it uses no keys but those that it is given.
func (f *functions) fresh(name []byte) (c *callable, planned bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c = f.find(name); c == nil || time.Since(f.seen) >= functionsFresh {
		return nil, false
	}
	return c, !c.guesses.Load()
}

// find returns a function by its name in any case, nil if it is not known.
func (f *functions) find(name []byte) *callable {
	if c := f.all[string(name)]; c != nil {
		return c
	}
	return f.all[string(bytes.ToLower(name))]
}

// guessed notes that a function uses keys that it was not given.
func (f *functions) guessed(name []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.find(name); c != nil {
		c.guesses.Store(true)
	}
}

// forget has what is known looked at again: this proxy has changed it.
func (f *functions) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen, f.version = time.Time{}, nil
	f.changes++
}

// confirm notes that the libraries were of a version at a time. It returns what is known if that is at least as new.
func (f *functions) confirm(version []byte, at time.Time) (set *function.Set, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.version != nil && bytes.Equal(f.version, version) && f.seen.Before(at) {
		f.seen = at
	}
	return f.set, !f.seen.Before(at)
}

// saw keeps what was read, unless this proxy has made changes since it had made so many.
func (f *functions) saw(set *function.Set, version []byte, at time.Time, changes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changes != changes || at.Before(f.seen) {
		return
	}
	all := make(map[string]*callable)
	for _, l := range set.Libraries() {
		for i := range l.Functions {
			name := strings.ToLower(l.Functions[i].Name)
			first, _ := set.Function(name)
			c := &callable{Function: first, code: l.Code}
			if old := f.all[name]; old != nil && bytes.Equal(old.code, c.code) {
				c.guesses.Store(old.guesses.Load())
			}
			all[name] = c
		}
	}
	f.all, f.set, f.version, f.seen = all, set, version, at
}

// made returns how many changes this proxy has made.
func (f *functions) made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// function returns a function, nil if there is none of that name now. The error is a reply: nobody can say.
func (s *Session) function(name []byte) (*callable, error) {
	if c, _ := s.service.functions.fresh(name); c != nil {
		return c, nil
	}
	set, err := s.functions()
	if c, _ := s.service.functions.fresh(name); c != nil {
		return c, nil
	}
	f, l := set.Function(string(name)) // this proxy has changed functions since they were read
	if err != nil || f == nil {
		return nil, err
	}
	return &callable{Function: f, code: l.Code}, nil
}

// functions returns all libraries as they are now.
func (s *Session) functions() (*function.Set, error) {
	f, now := &s.service.functions, time.Now()
	reply, err := s.ownBatch(false, nil, command.Request{Op: command.OpWatched, Args: [][]byte{watchedName, libraries}})
	if err != nil {
		return nil, err
	}
	if set, ok := f.confirm(bulkValue(reply), now); ok {
		return set, nil
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	if set, ok := f.confirm(nil, now); ok { // another one has read them meanwhile
		return set, nil
	}
	changes := f.made()
	now = time.Now()
	set, version, err := s.readLibraries()
	if err == nil {
		f.saw(set, version, now, changes)
	}
	return set, err
}

// readLibraries reads all libraries, and the version of their hash.
func (s *Session) readLibraries() (set *function.Set, version []byte, err error) {
	reply, err := s.ownBatch(false, nil, command.Request{Op: command.OpWatched, Args: [][]byte{watchedName, libraries}},
		command.Request{Op: command.OpHGetAll, Args: [][]byte{[]byte("HGETALL"), libraries}})
	if err != nil {
		return nil, nil, err
	}
	_, reply, _ = bytes.Cut(reply, crlf)
	first := resp.Size(reply)
	version = bytes.Clone(bulkValue(reply[:first]))
	texts := bulks(reply[first:])
	var all []*function.Library
	for i := 0; i+1 < len(texts); i += 2 {
		l, err := function.Decode(string(texts[i]), bytes.Clone(texts[i+1]))
		if err != nil {
			return nil, nil, errLibraries
		}
		all = append(all, l)
	}
	set, err = function.NewSet(all...)
	return set, version, err
}

// errLibraries is the error for libraries that another version of Quoll has kept.
var errLibraries = route.Refuse("ERR the libraries of this cluster cannot be read; proxies may be of different versions")

// bulks returns the texts of an array.
func bulks(reply []byte) (texts [][]byte) {
	_, rest, _ := bytes.Cut(reply, crlf)
	for len(rest) > 0 {
		size := resp.Size(rest)
		if size == 0 {
			return texts
		}
		texts, rest = append(texts, bulkValue(rest[:size])), rest[size:]
	}
	return texts
}

// ownBatch executes commands on the libraries at once, if they are of a version; nil is any. More than one, or a version, gives an array. The error is a reply.
func (s *Session) ownBatch(write bool, version []byte, commands ...command.Request) ([]byte, error) {
	b := command.Batch{Array: len(commands) > 1 || version != nil, Commands: commands}
	if version != nil {
		b.Watched = []command.Watched{{Key: libraries, Version: version}}
	}
	var batch route.Batch
	batch.Add(b.Request(libraries, false), write)
	s.executeAtOnce(&batch)
	op := &batch.Ops[0]
	switch {
	case op.Outcome == answer.Unknown && !write:
		return nil, route.ErrTimeout
	case op.Outcome != answer.Done || op.Reply[0] == '-':
		return nil, &route.ReplyError{Outcome: op.Outcome, Text: string(errorText(op.Reply))}
	}
	return op.Reply, nil
}
