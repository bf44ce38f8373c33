package route

// again lets an operation be sent once more.
func (s *batchState) again(st *opState) {
	if st.phase == opReady || st.phase == opDone {
		return
	}
	s.left(st, false)
	st.phase, st.waiting, st.reply = opReady, 0, nil
	if st.tries < 255 {
		st.tries++
	}
	s.ready++
}

// hold keeps an operation back for a moment, and what is behind it on the same key: whom it is to be sent to has not heard yet who holds its slot.
func (s *batchState) hold(st *opState) {
	if chain := s.chainOf(st); chain != nil {
		chain.held = s.round
	}
	if st.delays < 255 {
		st.delays++
	}
}

// unheard is again for who was refused because the node knows another version of the ring than this proxy: that says nothing about who leads the slot, and
// is over when both have heard.
func (s *batchState) unheard(st *opState) {
	s.again(st)
	st.err = nil
	st.tries--
	if st.delays < 255 {
		st.delays++
	}
}

// later is again for who was refused because too much waits where it was sent: that says nothing about who leads
// the slot.
func (s *batchState) later(st *opState) {
	s.again(st)
	st.err = ErrOverloaded
	st.tries--
	if st.delays < 255 {
		st.delays++
	}
}
