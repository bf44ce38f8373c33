package consensus

import "github.com/quolldb/quoll/internal/wire"

// window is for how many entries of the log an outcome is kept, and how many entries after its proposer looked a proposal may still be applied.
// So no copy of a proposal is applied after the outcome of another one has been forgotten.
const window = 1024

// recent is the outcomes of what was applied lately. It is part of the replicated state.
type recent struct {
	outcomes map[request]result
	order    []request // by index
}

func (r *recent) find(q request) (result, bool) {
	found, ok := r.outcomes[q]
	return found, ok
}

// add keeps an outcome, and forgets what is out of the window.
func (r *recent) add(res result) {
	if r.outcomes == nil {
		r.outcomes = map[request]result{}
	}
	r.outcomes[res.request] = res
	r.order = append(r.order, res.request)
	for len(r.order) > 1 && r.outcomes[r.order[0]].index+window < res.index {
		delete(r.outcomes, r.order[0])
		r.order = r.order[1:]
	}
}

// encodeSnapshot is what snapshots hold: the outcomes, and the machine's state.
func (r *recent) encodeSnapshot(state []byte) []byte {
	b := wire.AppendUvarint(nil, uint64(len(r.order)))
	for _, q := range r.order {
		b = r.outcomes[q].append(b)
	}
	return append(b, state...)
}

func decodeSnapshot(b []byte) (r recent, state []byte, err error) {
	d := wire.NewDecoder(b)
	for n := d.Uvarint(); n > 0 && d.Err() == nil; n-- {
		r.add(readResult(&d))
	}
	return r, d.Rest(), d.Err()
}
