package history

import (
	"slices"
	"strconv"
	"strings"
)

// Hash is a hash as a text that can be compared: each field and its value, all separated by spaces, of which they have
// none themselves. The fields are in the order in which they came, as Redis has it for small hashes.
type Hash string

// place returns the words of the hash, and where a field is among them, -1 if it is not.
func (h Hash) place(field string) (words []string, at int) {
	words = strings.Fields(string(h))
	for i := 0; i < len(words); i += 2 {
		if words[i] == field {
			return words, i
		}
	}
	return words, -1
}

// Get returns the value of a field, Nil if there is none.
func (h Hash) Get(field string) (value string, found bool) {
	words, at := h.place(field)
	if at < 0 {
		return Nil, false
	}
	return words[at+1], true
}

// Set returns the hash in which a field has a value.
func (h Hash) Set(field, value string) Hash {
	words, at := h.place(field)
	if at < 0 {
		words = append(words, field, value)
	} else {
		words[at+1] = value
	}
	return Hash(strings.Join(words, " "))
}

// Delete returns the hash without a field.
func (h Hash) Delete(field string) Hash {
	words, at := h.place(field)
	if at < 0 {
		return h
	}
	return Hash(strings.Join(slices.Delete(words, at, at+2), " "))
}

// Sorted returns the hash with its fields in the order of their names.
func (h Hash) Sorted() Hash {
	words := strings.Fields(string(h))
	pairs := make([]string, 0, len(words)/2)
	for pair := range slices.Chunk(words, 2) {
		pairs = append(pairs, strings.Join(pair, " "))
	}
	slices.Sort(pairs)
	return Hash(strings.Join(pairs, " "))
}

// applyToHash is apply for the commands on hashes. The order of the fields is none of its business: some clients lose it.
func applyToHash(s state, o *Operation) (next state, reply string) {
	hash, fields := Hash(s.value), strings.Fields(o.Field)
	switch o.Kind {
	case HGet, HMGet:
		var values []string
		for _, field := range fields {
			value, _ := hash.Get(field)
			values = append(values, value)
		}
		return s, strings.Join(values, " ")
	case HGetAll:
		return s, s.value
	case HIncr:
		old, found := hash.Get(o.Field)
		n, canonical := number(old)
		if found && !canonical {
			return s, FieldNotInteger
		}
		reply = strconv.FormatInt(n+1, 10)
		return s.hashed(hash.Set(o.Field, reply)), reply
	}
	changed := 0
	for _, field := range fields {
		_, found := hash.Get(field)
		switch {
		case o.Kind == HDel && found:
			hash = hash.Delete(field)
			changed++
		case o.Kind != HDel && !(found && o.Kind == HSetNX):
			hash = hash.Set(field, o.Arg)
			if !found {
				changed++
			}
		}
	}
	return s.hashed(hash), strconv.Itoa(changed)
}

// hashed returns the state with a hash and the expiry that the key has; without a field it is gone.
func (s state) hashed(h Hash) state {
	return s.holding(hashes, string(h.Sorted()))
}
