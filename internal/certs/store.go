package certs

import (
	"crypto/x509"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Store has the certificates of one purpose, as they are in force. Any goroutine may use it.
type Store struct {
	use   string
	files Files

	current atomic.Pointer[material]
	failed  atomic.Bool // what is in the files now makes no sense
	server  atomic.Pointer[serverConfig]
	// fits says why some material is not what the store is for, nil if it may be any. It is set before anybody watches.
	fits func(*material) error

	checking sync.Mutex
	refused  *contents // what made no sense when it was looked at last,
	why      string    // with which error,
	told     bool      // and that was said
	warned   time.Time // when it was said last that something expires
}

// Open reads the files. use is what the certificates are for, in one word, as logs and metrics call it. Errors wrap ErrFile.
func Open(use string, files Files) (*Store, error) {
	s := &Store{use: use, files: files}
	read, err := files.read()
	if err != nil {
		return nil, err
	}
	m, err := files.parse(read)
	if err != nil {
		return nil, err
	}
	s.current.Store(m)
	return s, nil
}

// Use is what the certificates are for.
func (s *Store) Use() string { return s.use }

// Failed reports whether the files are not in force, because what is in them now makes no sense.
func (s *Store) Failed() bool { return s.failed.Load() }

// Reload has what is in the files in force, as Watch does now and then. If they make no sense nothing changes, and that is the error.
func (s *Store) Reload() error {
	for range 2 { // what makes no sense is looked at twice
		if _, err := s.reload(); err != nil {
			return err
		}
	}
	return nil
}

// reload looks at the files, and reports whether something else is in force than before. Files that are just being written may not fit together: the error is that
// of files that are the same as at the last call, and is returned once.
func (s *Store) reload() (changed bool, err error) {
	s.checking.Lock()
	defer s.checking.Unlock()
	read, err := s.files.read()
	if err == nil && read.equal(s.current.Load().contents) {
		s.settle()
		return false, nil
	}
	var m *material
	if err == nil {
		m, err = s.files.parse(read)
	}
	if err == nil {
		err = s.judge(m)
	}
	if err != nil {
		return false, s.refuse(read, err)
	}
	s.current.Store(m)
	s.settle()
	s.warned = time.Time{}
	return true, nil
}

// judge says why new material, which makes sense, is not to be in force.
func (s *Store) judge(m *material) error {
	now := time.Now()
	if leaf, old := m.leaf(), s.current.Load().leaf(); leaf != nil && old != nil && now.After(leaf.NotAfter) && !now.After(old.NotAfter) {
		return fmt.Errorf("%w: the certificate in %s has expired at %s", ErrFile, s.files.Cert, leaf.NotAfter)
	}
	if s.fits == nil {
		return nil
	}
	return s.fits(m)
}

// settle forgets what made no sense.
func (s *Store) settle() {
	s.failed.Store(false)
	s.refused, s.told = nil, false
}

// refuse notes what makes no sense, and returns why if that is to be said.
func (s *Store) refuse(read contents, err error) error {
	again := s.refused != nil && s.refused.equal(read) && s.why == err.Error()
	s.told = s.told && again
	s.refused, s.why = &read, err.Error()
	if !again || s.told {
		return nil
	}
	s.told = true
	s.failed.Store(true)
	return err
}

// Expiry is when certificates in force expire.
type Expiry struct {
	Use string
	// At is the end of the process' own certificate, or, as CA, of the CA that is valid longest.
	At time.Time
	CA bool
	// Due: it is to be replaced soon.
	Due bool
	// Failed: what is in the files now makes no sense, and is not in force.
	Failed bool
}

// Expiries returns when the certificates in force expire. now is only compared.
func (s *Store) Expiries(now time.Time) []Expiry {
	var list []Expiry
	m := s.current.Load()
	add := func(cert *x509.Certificate, ca bool) {
		if cert != nil {
			list = append(list, Expiry{Use: s.use, At: cert.NotAfter, CA: ca, Failed: s.Failed(), Due: now.After(cert.NotAfter.Add(-warnBefore(cert)))})
		}
	}
	add(m.leaf(), false)
	add(m.lastCA(), true)
	return list
}

// reminder is how often it is said that a certificate expires.
const reminder = 24 * time.Hour

// due returns what is to be said about certificates that expire soon, now and then.
func (s *Store) due(now time.Time) []Expiry {
	s.checking.Lock()
	defer s.checking.Unlock()
	if !s.warned.IsZero() && now.Sub(s.warned) < reminder {
		return nil
	}
	var due []Expiry
	for _, e := range s.Expiries(now) {
		if e.Due {
			due = append(due, e)
			s.warned = now
		}
	}
	return due
}
