package journal

import "time"

// runPreparer keeps segments ready. err is how that went so far. While there is no space it
// tries again after a pause.
func (j *Journal) runPreparer(err error) {
	j.filling = true
	for short := false; ; err = j.prepare() {
		if err != nil && !shortage(err) {
			_ = j.fail("prepare a segment", err)
			return
		}
		j.tell(short, err)
		short = err != nil
		shortened, again := j.shortened, (<-chan time.Time)(nil)
		if short {
			shortened, again = nil, time.After(j.opt.pause)
		}
		select {
		case <-shortened:
		case <-again:
		case <-j.stop:
			return
		}
	}
}

// tell logs that there is no space, once, and that there is again.
func (j *Journal) tell(short bool, err error) {
	if err != nil && !short {
		j.opt.Logger.Warn("no space to prepare a segment of the journal; free some, or writes will be refused",
			"bytes", j.opt.SegmentSize, "room", j.Room(), "error", err)
	} else if err == nil && short {
		j.opt.Logger.Info("there is space for the journal again", "room", j.Room())
	}
}

// prepare makes segments until enough are ahead.
func (j *Journal) prepare() error {
	for {
		j.mu.Lock()
		if err := j.failed; err != nil || !j.lacking() {
			j.mu.Unlock()
			return err
		}
		number, spare := j.number, j.takeSpare()
		j.mu.Unlock()

		s, err := j.newSegment(number, spare)
		if err != nil {
			return err
		}
		j.mu.Lock()
		j.number++
		j.ahead = append(j.ahead, s)
		j.countRoom()
		j.mu.Unlock()
	}
}

// lacking reports whether a segment is to be made. The caller has the mutex.
func (j *Journal) lacking() bool {
	var size, room int64
	for _, s := range j.ahead {
		size += s.size
		room += j.usable(s.limit - blockSize)
	}
	return size < j.opt.Reserve || room < j.largest
}

// takeSpare returns a segment that can be overwritten, or nil. The caller has the mutex.
func (j *Journal) takeSpare() *segment {
	n := len(j.spare) - 1
	if n < 0 {
		return nil
	}
	s := j.spare[n]
	j.spare = j.spare[:n]
	return s
}

// retire keeps a segment that is not needed any more, under another name, or removes
// it if there are enough.
func (j *Journal) retire(s *segment) {
	if s.size == j.opt.SegmentSize {
		if err := j.fs.Rename(s.name(), s.spareName()); err == nil {
			j.mu.Lock()
			j.spare = append(j.spare, s)
			j.mu.Unlock()
			j.trimSpare()
			return
		}
	}
	j.discard(s, s.name())
}

// trimSpare removes what is more than Spare.
func (j *Journal) trimSpare() {
	for {
		j.mu.Lock()
		var s *segment
		if len(j.spare) > j.opt.Spare {
			s = j.takeSpare()
		}
		j.mu.Unlock()
		if s == nil {
			return
		}
		j.discard(s, s.spareName())
	}
}
