package parts

// Edit makes one version of a sequence by several splices, each of ranks as they are after the one before. There is no version between them, which somebody might keep: that is what makes them
// cheaper than so many calls of Sequence.Splice. An Edit is for one goroutine.
type Edit struct {
	before *Sequence // what now was made of; nil if it was not made by the edit
	now    *Sequence
}

// Edit begins an edit of the sequence, which itself stays as it is.
func (s *Sequence) Edit() Edit { return Edit{now: s} }

// Sequence returns the sequence as it is now. Whoever has it keeps it only if there are no more splices.
func (e *Edit) Sequence() *Sequence { return e.now }

// Splice is Sequence.Splice. What At has lent of the sequence is not good any more.
func (e *Edit) Splice(from, to int, with ...[]byte) {
	if e.before != nil && e.now.again(e.before, from, to, with) {
		return
	}
	if next := e.now.Splice(from, to, with...); next != e.now {
		e.before, e.now = e.now, next
	}
}

// again does another splice to a version that nobody but an edit has, which made it of the one before. It reports false if that needs another version.
func (s *Sequence) again(before *Sequence, from, to int, with [][]byte) bool {
	s.run.Lock()
	defer s.run.Unlock()
	if !s.changesInPlace(to - from) { // somebody has looked at the one before meanwhile
		return false
	}
	p := splice{
		run: s.run.number, with: with, keeps: before.run == s.run && before.next == s,
		atEnd: from == s.count, atFront: to == 0,
	}
	s.holds(p.root(s.root, from, to))
	if p.keeps {
		earlier := before.undo
		before.undo = s.run.undoes(from, to, len(with), p.taken)
		before.undo.earlier = &earlier
	}
	return true
}
