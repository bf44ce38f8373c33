package certs

import (
	"context"
	"log/slog"
	"os"
	"time"
)

// Interval is how often Watch looks at files.
const Interval = time.Second

// Watched is what Watch looks after: a Store, or Keys.
type Watched interface {
	// look reads the files, and logs what is to be said about them.
	look(log *slog.Logger)
}

// Watch keeps what is in force as it is in the files, until ctx is done. It looks at them each Interval, and when something comes from now, which may be nil. It reads them, for
// a time of change says little of a mounted secret, whose files are links. It logs what has changed, what makes no sense, and what expires soon.
func Watch(ctx context.Context, log *slog.Logger, now <-chan os.Signal, files ...Watched) {
	if len(files) == 0 {
		return
	}
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		for _, f := range files {
			f.look(log)
		}
		select {
		case <-ctx.Done():
			return
		case <-now:
		case <-ticker.C:
		}
	}
}

// look implements Watched.
func (s *Store) look(log *slog.Logger) {
	changed, err := s.reload()
	switch {
	case err != nil:
		log.Error("new certificates make no sense, the ones from before stay in force; correct the files", "use", s.use, "err", err)
	case changed:
		log.Info("new certificates are in force for new connections", "use", s.use, "expires", s.expires())
	}
	for _, e := range s.due(time.Now()) {
		what := "the certificate"
		if e.CA {
			what = "the CA"
		}
		log.Warn(what+" expires soon; replace its file", "use", e.Use, "expires", e.At)
	}
}

// expires is when the first of the certificates in force ends.
func (s *Store) expires() (first time.Time) {
	for _, e := range s.Expiries(time.Time{}) {
		if first.IsZero() || e.At.Before(first) {
			first = e.At
		}
	}
	return first
}
