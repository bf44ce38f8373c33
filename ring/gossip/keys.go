package gossip

import (
	"bytes"
	"fmt"
	"slices"
)

// checkKeys says which of them is no key.
func checkKeys(keys [][]byte) error {
	for _, key := range keys {
		if len(key) != KeySize {
			return fmt.Errorf("%w: a secret key has %d bytes, want %d", ErrConfig, len(key), KeySize)
		}
	}
	return nil
}

// SetKeys changes the keys: the first one encrypts from now on, and what is encrypted by any of them is read. There were keys from the start, and there is one at least now. Members
// read each other as long as each has the key with which the other encrypts: so a new key is given to all as a second one before it becomes the first one anywhere.
func (g *Gossip) SetKeys(keys [][]byte) error {
	if err := checkKeys(keys); err != nil {
		return err
	}
	if g.ring == nil || len(keys) == 0 {
		return fmt.Errorf("%w: keys can be changed, and not begun with or done without, while the member runs", ErrConfig)
	}
	for _, key := range keys {
		if err := g.ring.AddKey(key); err != nil {
			return fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	if err := g.ring.UseKey(keys[0]); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	for _, old := range slices.Clone(g.ring.GetKeys()) {
		if !slices.ContainsFunc(keys, func(key []byte) bool { return bytes.Equal(key, old) }) {
			if err := g.ring.RemoveKey(old); err != nil {
				return fmt.Errorf("%w: %w", ErrConfig, err)
			}
		}
	}
	return nil
}
