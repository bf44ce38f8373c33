package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// GET /v1/backup answers with a backup of the node, in the format of package backup, for as
// long as that takes. rate=BYTES bounds the bytes for each second. An error before the
// first byte is JSON, as everywhere; later ones are in the backup.

// BackupSource is a Backend that can be backed up.
type BackupSource interface {
	// Backup writes a backup to w. It ends soon after ctx does. An error before the
	// first byte is only returned.
	Backup(ctx context.Context, w io.Writer) error
}

// backupStall is how long either side waits for the other to go on.
const backupStall = 2 * time.Minute

func (h *handler) backup(w http.ResponseWriter, r *http.Request) {
	source, ok := h.backend.(BackupSource)
	if !ok {
		fail(w, http.StatusNotFound, "this process is no node and holds no data: give the admin address of a node")
		return
	}
	rate, err := backupRate(r)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	out := &stream{w: w, control: http.NewResponseController(w), pace: pace{rate: rate, start: time.Now()}, done: r.Context().Done()}
	// The server bounds requests that are short. Its errors mean that there is no bound.
	_ = out.control.SetReadDeadline(time.Time{})
	if err := source.Backup(r.Context(), out); err != nil && !out.begun {
		fail(w, http.StatusServiceUnavailable, err.Error())
	}
}

func backupRate(r *http.Request) (int64, error) {
	text := r.URL.Query().Get("rate")
	if text == "" {
		return 0, nil
	}
	rate, err := strconv.ParseInt(text, 10, 64)
	if err != nil || rate < 0 {
		return 0, errRequest("rate is not a number of bytes")
	}
	return rate, nil
}

// stream writes an answer that may take long: piece by piece, each at its time.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	pace    pace
	done    <-chan struct{}
	begun   bool
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (n int, err error) {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "application/octet-stream")
	}
	for n < len(p) && err == nil {
		piece := p[n:min(len(p), n+s.pace.piece())]
		_ = s.control.SetWriteDeadline(time.Now().Add(backupStall))
		var written int
		written, err = s.w.Write(piece)
		n += written
		if err == nil {
			err = s.control.Flush()
		}
		if err == nil {
			err = s.pace.wait(written, s.done)
		}
	}
	return n, err
}

// pace spreads bytes evenly over time.
type pace struct {
	rate  int64 // bytes each second, 0 for no bound
	start time.Time
	sent  int64
}

// piece is how many bytes go out at once: what is due in a tenth of a second.
func (p *pace) piece() int {
	const most = 1 << 20
	if p.rate == 0 {
		return most
	}
	return int(max(1, min(p.rate/10, most)))
}

var errGone = errors.New("nobody waits for it any more")

// wait waits until n more bytes are due.
func (p *pace) wait(n int, done <-chan struct{}) error {
	if p.rate == 0 {
		return nil
	}
	p.sent += int64(n)
	due := time.Duration(float64(p.sent) / float64(p.rate) * float64(time.Second))
	timer := time.NewTimer(due - time.Since(p.start))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-done:
		return errGone
	}
}
