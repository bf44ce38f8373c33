package route

// again lets an operation be sent once more. If it is one of several reads of a key, and none of these is in a chain, those behind it have perhaps seen less than it will:
// then they are sent once more with it.
func (s *batchState) again(st *opState) {
	if st.phase == opReady || st.phase == opDone {
		return
	}
	s.retry(st)
	if st.chain < 0 && (st.before >= 0 || st.after >= 0) {
		s.readAgain(st)
	}
}

// readAgain sends all reads of a key once more, from the first on that has no outcome. They go the same way, in one round: what a replica answers is
// then in their order. At the home they are a chain.
func (s *batchState) readAgain(st *opState) {
	first := st
	for x := st; ; x = &s.ops[x.before] {
		if x.phase != opDone {
			first = x
		}
		if x.before < 0 {
			break
		}
	}
	viaHome := false
	for i := first.index; i >= 0; i = s.ops[i].after {
		viaHome = viaHome || s.ops[i].viaHome
	}
	if viaHome {
		s.chains.list = append(s.chains.list, newChain())
	}
	for i := first.index; i >= 0; i = s.ops[i].after {
		x := &s.ops[i]
		if x.phase != opReady && x.phase != opDone {
			s.retry(x)
		}
		x.asked = x.asked || st.asked
		if viaHome {
			x.viaHome, x.chain = true, int32(len(s.chains.list)-1)
		}
	}
	s.reopen(first)
}

// reopen takes back the replies to the reads behind an operation on the same key.
func (s *batchState) reopen(st *opState) {
	for i := st.after; i >= 0; i = s.ops[i].after {
		x := &s.ops[i]
		if x.phase != opDone || x.reply == nil || x.write {
			continue
		}
		x.phase, x.reply, x.ahead = opReady, nil, nil
		s.ready++
		s.pending++
		s.parts[x.part].pending++
	}
}

// retry is again for this operation alone.
func (s *batchState) retry(st *opState) {
	s.left(st, false)
	st.phase, st.waiting, st.reply, st.ahead = opReady, 0, nil, nil
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
