package register

import "slices"

// What follows says which batches have to be looked at after something has happened. In a slot that many use hundreds wait for their keys, and to look at all of them with each reply
// would take longer than all else. Whatever is not of a single key (time, a term, an epoch, the record of batches) has all be looked at.

// mostLooks is how many batches are remembered one by one.
const mostLooks = 64

// lookAtAll has all batches that wait be looked at.
func (b *batches) lookAtAll() {
	if b != nil {
		b.all, b.some = true, b.some[:0]
	}
}

// lookAt has the batches be looked at that wait for a key: its queue, what is known of it, or who holds its head has changed.
func (b *batches) lookAt(ks *keyState) {
	if b == nil {
		return
	}
	for _, r := range ks.queue {
		if b.all {
			return
		}
		if r.batch != nil {
			b.lookAtOne(r.batch)
		}
	}
}

// lookAtOne has a batch be looked at.
func (b *batches) lookAtOne(one *batch) {
	switch {
	case b.all:
	case len(b.some) == mostLooks:
		b.lookAtAll()
	default:
		b.some = append(b.some, one)
	}
}

// looked appends the batches that are to be looked at, which are not to be then.
func (b *batches) looked(to []*batch) []*batch {
	if b.all {
		to = append(to, b.queue...)
	}
	for _, one := range b.some {
		if !slices.Contains(to, one) && slices.Contains(b.queue, one) { // else it is none that waits, and may be another home's
			to = append(to, one)
		}
	}
	b.all, b.some = false, b.some[:0]
	return to
}
