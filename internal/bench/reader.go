package bench

import "io"

// reader takes answers apart in a buffer of its own, without allocating. Data of bulk strings goes by in pieces, so the buffer may be
// smaller than they are.
type reader struct {
	from   io.Reader
	buf    []byte
	at, to int // what was read and not taken
	// onRead is called after each read of the connection, and before its bytes are looked at.
	onRead func()
}

// fill reads more, and makes room for it first.
func (r *reader) fill() error {
	if r.at > 0 {
		r.to = copy(r.buf, r.buf[r.at:r.to])
		r.at = 0
	}
	n, err := r.from.Read(r.buf[r.to:])
	r.to += n
	if n > 0 {
		r.onRead()
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// next returns the first line of the next answer. Its text is good until the next call.
func (r *reader) next() (reply, error) {
	for {
		answer, size, err := parse(r.buf[r.at:r.to])
		if size > 0 || err != nil {
			r.at += size
			return answer, err
		}
		if err := r.fill(); err != nil {
			return reply{}, err
		}
	}
}

// body takes n bytes of data and the end of the line behind them; visit, if not nil, sees the data in pieces, with the place of each.
func (r *reader) body(n int, visit func(at int, piece []byte)) error {
	for taken := 0; taken < n+2; {
		if r.at == r.to {
			if err := r.fill(); err != nil {
				return err
			}
		}
		piece := r.buf[r.at:min(r.to, r.at+n+2-taken)]
		if data := n - taken; visit != nil && data > 0 {
			visit(taken, piece[:min(data, len(piece))])
		}
		taken += len(piece)
		r.at += len(piece)
	}
	return nil
}
