package history

import (
	"fmt"
	"strings"
)

// Journal declares a key to which clients only append tokens, each unique in the
// history and ending with a semicolon. However many there are, CheckJournal decides about them; Check
// leaves the key alone.
func (r *Recorder) Journal(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journals[key] = true
}

// CheckJournal compares a journal with its value, read after the last append was
// answered. Every acknowledged token must be there, once, at the place that its reply, the length,
// says; no other one may be there but those of unknown outcome; tokens are in the order of
// real time, and those of a pipeline in its order. The error shows the operations that
// contradict each other.
func (r *Recorder) CheckJournal(key, value string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	byToken := map[string]*Operation{}
	for i := range r.ops[key] {
		byToken[r.ops[key][i].Arg] = &r.ops[key][i]
	}
	there, err := place(value, byToken)
	if err != nil {
		return fmt.Errorf("history: journal %s: %w", key, err)
	}
	seen := map[*Operation]bool{}
	for _, o := range there {
		seen[o] = true
	}
	for _, o := range byToken {
		if !o.Unknown && !seen[o] {
			return fmt.Errorf("history: journal %s lost an acknowledged token:\n%s", key, show([]Operation{*o}))
		}
	}
	if a, b := disorder(there); a != nil {
		return fmt.Errorf("history: journal %s: the second of these came before the first:\n%s", key, show([]Operation{*a, *b}))
	}
	return nil
}

// place returns the operations in the order of their tokens in the value.
func place(value string, byToken map[string]*Operation) ([]*Operation, error) {
	var there []*Operation
	seen, end := map[string]bool{}, 0
	for token := range strings.SplitAfterSeq(value, ";") {
		if token == "" { // behind the last semicolon
			break
		}
		end += len(token)
		o := byToken[token]
		switch {
		case o == nil:
			return nil, fmt.Errorf("%q at %d was appended by nobody, or by a client that was told that nothing was done", token, end)
		case seen[token]:
			return nil, fmt.Errorf("a token is there twice, again at %d:\n%s", end, show([]Operation{*o}))
		case !o.Unknown && o.Reply != fmt.Sprint(end):
			return nil, fmt.Errorf("a token ends at %d, but the reply was another:\n%s", end, show([]Operation{*o}))
		}
		seen[token] = true
		there = append(there, o)
	}
	return there, nil
}

// disorder returns two operations of which b took effect first although a was over
// before b began, or is ahead of it in a pipeline. There are none if a is nil.
func disorder(there []*Operation) (a, b *Operation) {
	var latest *Operation         // of those so far the one that began last
	ahead := map[int]*Operation{} // by pipeline: the answered one that came last
	for _, o := range there {
		if latest != nil && o.Return < latest.Call {
			return o, latest
		}
		if latest == nil || o.Call > latest.Call {
			latest = o
		}
		if o.Pipeline == 0 || o.Unknown {
			continue
		}
		if last := ahead[o.Pipeline]; last != nil && last.Place > o.Place {
			return o, last
		}
		ahead[o.Pipeline] = o
	}
	return nil, nil
}
