package hint

import (
	"errors"
	"io/fs"
	"os"
)

// write writes the file, behind those who note something, until it is to stop.
func (s *Set) write(f *file) {
	for {
		select {
		case <-f.stop:
			return
		case <-f.wake:
			s.flush(f)
		}
	}
}

// flush writes what waits. An error is logged once; from then on the set is in memory only.
func (s *Set) flush(f *file) {
	text, anew := s.due(f)
	var err error
	switch {
	case anew:
		err = f.replace(text)
	case len(text) > 0:
		_, err = f.out.Write(text)
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.broken, f.pending = true, nil
		s.log.Error("hints cannot be written and are not kept over restarts; nothing else depends on it", "err", err)
	}
}

// due returns what has to be written, and whether that is the whole file.
func (s *Set) due(f *file) (text []byte, anew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, f.pending = f.pending, nil
	if f.broken || len(text) == 0 && !f.overlong(s) {
		return nil, false
	}
	if f.length += int64(len(text)); f.out != nil && !f.overlong(s) {
		return text, false
	}
	f.stale, f.length = false, 0
	if s.empty() {
		return nil, true
	}
	text = s.encode(append([]byte(nil), f.header...))
	f.length = int64(len(text))
	return text, true
}

// replace puts a new file in the place of the former one, or none if it would be empty.
func (f *file) replace(text []byte) error {
	if f.out != nil {
		_ = f.out.Close() // nothing of it is needed
		f.out = nil
	}
	if len(text) == 0 {
		if err := os.Remove(f.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	out, err := os.OpenFile(f.path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = out.Write(text); err == nil {
		err = out.Sync() // or a lost machine might leave a file of this name without content
	}
	if err == nil {
		err = os.Rename(out.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, out.Close(), os.Remove(out.Name()))
	}
	f.out = out
	return nil
}

// Close writes what is not written yet, durably, and ends the file. The set goes on in
// memory.
func (s *Set) Close() error {
	s.mu.Lock()
	f := s.file
	s.file = nil
	s.mu.Unlock()
	if f == nil {
		return nil
	}
	close(f.stop)
	f.wait.Wait()
	if f.broken { // there may be room again
		f.broken, f.stale = false, true
	}
	s.flush(f)
	if f.out == nil {
		return nil
	}
	return errors.Join(f.out.Sync(), f.out.Close())
}
