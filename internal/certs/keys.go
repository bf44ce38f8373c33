package certs

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
)

// KeySize is the length of a key of gossip, in bytes.
const KeySize = 32

// Secret stands in a file of keys for the key that is derived from the cluster's secret.
const Secret = "secret"

// Keys has the keys of a file: one a line in base64, or Secret. Lines that begin with # say nothing. Any goroutine may use it.
type Keys struct {
	path    string
	derived []byte

	mu      sync.Mutex
	text    []byte // of which keys are in force
	refused []byte // what made no sense and was said
	keys    [][]byte
	changed func([][]byte)
}

// OpenKeys reads the file. derived is what Secret stands for, nil if there is no secret. Errors wrap ErrFile.
func OpenKeys(path string, derived []byte) (*Keys, error) {
	k := &Keys{path: path, derived: derived}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	k.text = text
	k.keys, err = k.parse(text)
	return k, err
}

// Keys returns the keys in force, the one that encrypts first. A nil Keys has none.
func (k *Keys) Keys() [][]byte {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys
}

// OnChange has changed be called, by Watch, when there are other keys.
func (k *Keys) OnChange(changed func([][]byte)) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changed = changed
}

func (k *Keys) parse(text []byte) (keys [][]byte, err error) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case line == Secret && k.derived == nil:
			return nil, fmt.Errorf("%w: %s names the secret's key, and there is no secret", ErrFile, k.path)
		case line == Secret:
			keys = append(keys, k.derived)
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != KeySize {
			return nil, fmt.Errorf("%w: a line of %s is no key: %d bytes in base64 (openssl rand -base64 %[3]d), or the word %s", ErrFile, k.path, KeySize, Secret)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: %s has no key", ErrFile, k.path)
	}
	return keys, nil
}

// look implements Watched.
func (k *Keys) look(log *slog.Logger) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, err := os.ReadFile(k.path)
	if err == nil && bytes.Equal(text, k.text) {
		return
	}
	var keys [][]byte
	if err == nil {
		keys, err = k.parse(text)
	}
	if err != nil {
		if !bytes.Equal(k.refused, text) || k.refused == nil {
			k.refused = append([]byte{}, text...)
			log.Error("new keys of gossip make no sense, the ones from before stay in force; correct the file", "err", err)
		}
		return
	}
	k.text, k.keys, k.refused = text, keys, nil
	if k.changed != nil {
		k.changed(keys)
	}
	log.Info("new keys of gossip are in force", "keys", len(keys))
}
