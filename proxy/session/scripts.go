package session

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// Scripts are kept in the cluster, each under a key of its own that no client sees, and the names of all in a hash: so every proxy finds what another one has
// loaded. A proxy that has looked at a script takes it for what is there for a moment, so that it does not ask for it each time.

// scriptFresh is for how long a proxy does not look again whether a script is there.
const scriptFresh = time.Second

// knownScripts bounds the bytes of scripts that a proxy remembers.
const knownScripts = 32 << 20

// scripts are those that a proxy knows. Any goroutine may use them.
type scripts struct {
	mu    sync.Mutex
	known map[string]*knownScript // by their SHA-1, in hex
	bytes int
}

// knownScript is one of them, which never changes but for when it was seen, and whether it uses keys that it has not named.
type knownScript struct {
	body    []byte
	seen    time.Time
	guesses bool
}

var (
	errNoScript  = route.Refuse(command.ErrNoScript)
	errFlushMode = route.Refuse("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
)

// allScripts is the key of the hash of all scripts.
var allScripts = []byte(database.Prefix + "scripts")

func scriptKey(sha string) []byte { return []byte(database.Prefix + "script:" + sha) }

// shaOf returns the name of a script.
func shaOf(body []byte) string {
	sum := sha1.Sum(body) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// fresh returns a script that was seen just now, nil if there is none, and whether it uses keys that it has not named.
func (s *scripts) fresh(sha string) (body []byte, guesses bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.known[sha]; k != nil && time.Since(k.seen) < scriptFresh {
		return k.body, k.guesses
	}
	return nil, false
}

// held is how many bytes of scripts are kept.
func (s *scripts) held() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.bytes)
}

// named reports whether a script was seen just now, and uses no keys but those that it names.
func (s *scripts) named(sha string) bool {
	body, guesses := s.fresh(sha)
	return body != nil && !guesses
}

// saw notes that a script is there. Without a body it is not.
func (s *scripts) saw(sha string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.known[sha]
	switch {
	case body == nil && k != nil:
		s.bytes -= len(k.body)
		delete(s.known, sha)
	case body == nil:
	case k != nil:
		k.seen = time.Now()
	default:
		if s.bytes += len(body); s.known == nil || s.bytes > knownScripts {
			s.known, s.bytes = make(map[string]*knownScript), len(body)
		}
		s.known[sha] = &knownScript{body: body, seen: time.Now()}
	}
}

// guessed notes that a script uses keys that it has not named.
func (s *scripts) guessed(body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.known[shaOf(body)]; k != nil {
		k.guesses = true
	}
}

// forget forgets all scripts.
func (s *scripts) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.bytes = nil, 0
}

// own executes an operation on one of Quoll's own keys. The error is a reply.
func (s *Session) own(write bool, op command.Op, args ...[]byte) ([]byte, error) {
	var batch route.Batch
	batch.Add(command.Request{Op: op, Args: append([][]byte{[]byte(command.ByOp(op).Name)}, args...)}, write)
	s.executeAtOnce(&batch)
	reply := batch.Ops[0].Reply
	if batch.Ops[0].Outcome != answer.Done || reply[0] == '-' {
		return nil, &route.ReplyError{Outcome: batch.Ops[0].Outcome, Text: string(errorText(reply))}
	}
	return reply, nil
}

// script returns a script by its name. The error is errNoScript if there is none, or why nobody can say.
func (s *Session) script(sha string) ([]byte, error) {
	known := &s.service.scripts
	if body, _ := known.fresh(sha); body != nil {
		return body, nil
	}
	reply, err := s.own(false, command.OpGet, scriptKey(sha))
	if err != nil {
		return nil, err
	}
	body := bulkValue(reply)
	known.saw(sha, body)
	if body == nil {
		return nil, errNoScript
	}
	return body, nil
}

// load has a script kept under its name. The error says what is wrong with it, or why it could not be kept.
func (s *Session) load(sha string, body []byte) error {
	if _, err := s.script(sha); !errors.Is(err, errNoScript) {
		return err
	}
	check := command.Batch{Commands: []command.Request{{Op: command.OpScript, Args: [][]byte{[]byte("SCRIPT"), []byte("LOAD"), body}}}}
	if reply := s.execute(check.Request(anywhere(sha), false), false).Reply; reply[0] == '-' {
		return route.Refuse(string(errorText(reply)))
	}
	if _, err := s.own(true, command.OpHSet, allScripts, []byte(sha), nil); err != nil {
		return err
	}
	if _, err := s.own(true, command.OpSet, scriptKey(sha), body); err != nil {
		return err
	}
	s.service.scripts.saw(sha, append([]byte{}, body...)) // also an empty one is there
	return nil
}

// scriptNames returns the names of all scripts.
func (s *Session) scriptNames() (names []string, err error) {
	reply, err := s.own(false, command.OpHKeys, allScripts)
	if err != nil {
		return nil, err
	}
	_, rest, _ := bytes.Cut(reply, crlf)
	for len(rest) > 0 {
		size := resp.Size(rest)
		names = append(names, string(bulkValue(rest[:size])))
		rest = rest[size:]
	}
	return names, nil
}
