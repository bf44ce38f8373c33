package admin

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// ErrTokens is returned (wrapped) for a file of tokens that cannot be used.
var ErrTokens = errors.New("the file of tokens cannot be used")

// The bounds of a file of tokens.
const (
	leastToken  = 16      // bytes: shorter ones could be guessed
	mostTokens  = 1 << 20 // bytes of the file
	tokenHashed = "sha256:"
)

// Tokens are the names, roles and tokens of a file:
//
//	# who      may      with
//	prometheus read     4b8c0a2f6de1977e15d0f3a2
//	alice      operate  sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//
// A token has 16 bytes or more. "sha256:" stands before the hash of one, so that the file need not have it. A name may stand in several
// lines, so that its token can be changed without a moment in which neither works. The file is read again when it was
// changed; if it is wrong then, what was in it before remains in force, and the log says so.
type Tokens struct {
	path string
	log  *slog.Logger

	mu     sync.Mutex
	known  []token
	size   int64
	stamp  time.Time
	failed string // what was logged last of a file that is wrong
}

type token struct {
	caller
	hash [sha256.Size]byte
}

// ReadTokens reads a file of tokens. Errors, which wrap ErrTokens, name the line. log gets what is wrong with the file later on.
func ReadTokens(path string, log *slog.Logger) (*Tokens, error) {
	t := &Tokens{path: path, log: log}
	return t, t.read()
}

// read reads the file, unless it is as it was. The caller holds the lock, or is alone.
func (t *Tokens) read() error {
	info, err := os.Stat(t.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTokens, err)
	}
	if info.Size() == t.size && info.ModTime().Equal(t.stamp) {
		return nil
	}
	if info.Size() > mostTokens {
		return fmt.Errorf("%w: %s has %d bytes: at most %d", ErrTokens, t.path, info.Size(), mostTokens)
	}
	text, err := os.ReadFile(t.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTokens, err)
	}
	known, err := parseTokens(text)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrTokens, t.path, err)
	}
	t.known, t.size, t.stamp, t.failed = known, info.Size(), info.ModTime(), ""
	return nil
}

// find returns who has the token with a hash, a Stranger if nobody does. All tokens are compared, so that the time tells nothing.
func (t *Tokens) find(given [sha256.Size]byte) caller {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil && t.failed != err.Error() {
		t.failed = err.Error()
		t.log.Warn("the tokens that were read before remain in force", "component", "admin", "err", err)
	}
	var found caller
	for i := range t.known {
		if subtle.ConstantTimeCompare(given[:], t.known[i].hash[:]) == 1 {
			found = t.known[i].caller
		}
	}
	return found
}

// parseTokens reads the lines of a file.
func parseTokens(text []byte) ([]token, error) {
	var tokens []token
	number := 0
	for line := range bytes.Lines(text) {
		number++
		fields := strings.Fields(string(line))
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		t, err := parseToken(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// parseToken reads a line. Its errors do not show the token.
func parseToken(fields []string) (t token, err error) {
	if len(fields) != 3 {
		return t, fmt.Errorf("has %d words: write NAME read TOKEN, or NAME operate TOKEN", len(fields))
	}
	switch t.name = fields[0]; fields[1] {
	case Reader.String():
		t.role = Reader
	case Operator.String():
		t.role = Operator
	default:
		return t, fmt.Errorf("%s: %q is no role: write read or operate", t.name, fields[1])
	}
	text, hashed := strings.CutPrefix(fields[2], tokenHashed)
	switch {
	case hashed:
		sum, err := hex.DecodeString(text)
		if err != nil || len(sum) != sha256.Size {
			return t, fmt.Errorf("%s: after %s there have to be %d hexadecimal digits", t.name, tokenHashed, 2*sha256.Size)
		}
		copy(t.hash[:], sum)
	case len(text) < leastToken:
		return t, fmt.Errorf("%s: a token has %d bytes or more, so that nobody can guess it: make one with openssl rand -hex 32", t.name, leastToken)
	default:
		t.hash = sha256.Sum256([]byte(text))
	}
	return t, nil
}
