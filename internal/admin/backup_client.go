package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errStalled ends an answer whose node sends nothing any more.
var errStalled = fmt.Errorf("nothing came for %s", backupStall)

// Backup asks for a backup, of at most rate bytes each second (0: as fast as possible), and
// returns it as it comes. What is read is to be checked (backup.Reader): it may end with
// the reason why there is no more. The caller closes it.
func (c *Client) Backup(ctx context.Context, rate int64) (io.ReadCloser, error) {
	return c.download(ctx, http.MethodGet, fmt.Sprintf("/v1/backup?rate=%d", rate))
}

// download sends a request whose answer takes as long as it takes, and returns that.
func (c *Client) download(ctx context.Context, method, path string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	b := &download{client: c, ctx: ctx, cancel: cancel, timer: time.AfterFunc(backupStall, func() { cancel(errStalled) })}
	unbounded := *c.http // in time: the timer looks whether it goes on
	unbounded.Timeout = 0
	response, err := c.do(ctx, &unbounded, method, path)
	if err != nil {
		b.stop()
		return nil, err
	}
	b.body = response.Body
	if response.StatusCode != http.StatusOK {
		defer b.Close()
		body, err := io.ReadAll(io.LimitReader(b, maxAnswer))
		if err != nil {
			return nil, err
		}
		return nil, c.refused(response.StatusCode, body)
	}
	return b, nil
}

// download is an answer that comes for as long as it takes.
type download struct {
	client *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	body   io.ReadCloser
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	n, err := d.body.Read(p)
	d.timer.Reset(backupStall)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if cause := context.Cause(d.ctx); cause != nil {
		err = cause
	}
	return n, fmt.Errorf("the answer of %s broke off: %w; see the log of the process there", d.client.base, err)
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.stop()
	return d.body.Close()
}

func (d *download) stop() {
	d.timer.Stop()
	d.cancel(nil)
}
