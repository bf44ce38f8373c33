package migrate

import (
	"context"
	"math/rand/v2"
	"time"
)

// sample is a choice of keys, each with the same probability, for the verification.
type sample struct {
	size   int
	seen   int
	keys   []string
	prints []fingerprint
}

// offer takes the item, maybe.
func (s *sample) offer(i *item) {
	s.seen++
	switch at := rand.IntN(s.seen); {
	case len(s.keys) < s.size:
		s.keys, s.prints = append(s.keys, i.key), append(s.prints, i.print())
	case at < s.size:
		s.keys[at], s.prints[at] = i.key, i.print()
	}
}

// verify compares the sample with what the target has now, and the source.
func (r *run) verify(ctx context.Context, sum Tally) (*Verified, error) {
	v := &Verified{TargetKeys: r.To.size(ctx)}
	v.Missing = v.TargetKeys > 0 && v.TargetKeys < sum.Lasting
	s := &r.ledger.sample
	var there, now []fingerprint
	if err := r.To.load(ctx, 0, s.keys, into(&there)); err != nil {
		return nil, err
	}
	live, err := r.From.again(ctx, s.keys, into(&now))
	if err != nil {
		return nil, err
	}
	for n, was := range s.prints {
		v.Compared++
		switch {
		case live && !was.same(now[n]): // it may be another one at the target, too, if its clients have moved
			v.Changed++
		case was.expireAt != 0 && was.expireAt <= time.Now().UnixMilli():
		case !was.same(there[n]):
			if v.Differ++; v.Differ <= examplesOfAKind {
				r.ledger.examples = append(r.ledger.examples, Example{s.keys[n], "it is not at the target as it was copied, unless clients have written it there since"})
			}
		}
	}
	return v, nil
}

// into appends the fingerprints of what is loaded.
func into(prints *[]fingerprint) func([]item) error {
	return func(items []item) error {
		for i := range items {
			*prints = append(*prints, items[i].print())
		}
		return nil
	}
}
