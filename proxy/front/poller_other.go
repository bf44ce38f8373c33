//go:build !linux

package front

import "errors"

// poller exists on Linux only. Without it every connection has a goroutine.
type poller struct{}

type arrival struct {
	id     int64
	ending bool
}

func newPoller() (*poller, error) { return nil, errors.ErrUnsupported }

func (*poller) watch(*socket, int64) error            { return errors.ErrUnsupported }
func (*poller) wait(dst []arrival) ([]arrival, error) { return dst, errors.ErrUnsupported }
func (*poller) stop()                                 {}
func (*poller) close()                                {}

func (*socket) gone() bool { return false }
