package history

import (
	"fmt"
	"sync"
)

// Keys hands out the keys of a history that is to be checked. To every key goes a bounded
// number of commands, and only some of them at a time: what the checker has to do grows
// exponentially with those that overlap, and those of unknown outcome never end. Its methods may be called
// from any goroutine.
type Keys struct {
	name   string
	mu     sync.Mutex
	serial int64
	keys   [8]handedOut
}

type handedOut struct{ generation, commands, open int }

const (
	commandsPerKey = 60
	openPerKey     = 8
)

// NewKeys returns keys that begin with a name.
func NewKeys(name string) *Keys { return &Keys{name: name} }

// Next returns the key for some commands, and a number that no other call returns.
func (k *Keys) Next(commands int) (key string, serial int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.take(int(k.serial+1)%len(k.keys), commands)
}

// At is Next for clients that meet at a key: those that name the same place are given the same one, for a while.
func (k *Keys) At(place, commands int) (key string, serial int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.take(place%len(k.keys), commands)
}

// take takes commands of the key at a place. The keys are locked.
func (k *Keys) take(i, commands int) (key string, serial int64) {
	k.serial++
	h := &k.keys[i]
	if h.commands+commands > commandsPerKey || h.open+commands > openPerKey {
		*h = handedOut{generation: h.generation + 1}
	}
	h.commands += commands
	h.open += commands
	return fmt.Sprint(k.name, ":h:", i, ":", h.generation), k.serial
}

// Again notes that a command on the key is sent once more.
func (k *Keys) Again(key string) { k.count(key, 1) }

// Ended notes that the outcome of a command on the key is known.
func (k *Keys) Ended(key string) { k.count(key, -1) }

func (k *Keys) count(key string, open int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var i, generation int
	if _, err := fmt.Sscanf(key, k.name+":h:%d:%d", &i, &generation); err == nil && k.keys[i].generation == generation {
		k.keys[i].open += open
	}
}
