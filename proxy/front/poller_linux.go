package front

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quolldb/quoll/internal/rawio"
)

// polled is what a poller watches sockets for. Edge-triggered: it tells of what has
// come since it told last, and of nothing while nothing comes.
const polled = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET

// poller tells which of many sockets can be read. It is an epoll instance that the Go runtime
// waits for as for any socket: whoever waits takes up no thread.
type poller struct {
	fd     int
	file   *os.File // of fd
	raw    syscall.RawConn
	events [256]unix.EpollEvent
	n      int
	err    error
	take   func(fd uintptr) bool
}

// arrival says that a socket can be read. ending is set once it has told everything.
type arrival struct {
	id     int64
	ending bool
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("proxy: making an epoll instance: %w", err)
	}
	// Only a descriptor that does not block is left to the runtime to wait for.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("proxy: making an epoll instance: %w", err)
	}
	p := &poller{fd: fd, file: os.NewFile(uintptr(fd), "epoll")}
	if p.raw, err = p.file.SyscallConn(); err != nil {
		p.close()
		return nil, fmt.Errorf("proxy: making an epoll instance: %w", err)
	}
	p.take = func(fd uintptr) bool {
		p.n, p.err = rawio.Poll(fd, p.events[:])
		return p.n != 0 || p.err != nil
	}
	return p, nil
}

// watch begins to tell of a socket, by this number. Closing the connection ends it. The
// socket can be reminded of from then on.
func (p *poller) watch(s *socket, id int64) error {
	event := unix.EpollEvent{Events: polled, Fd: int32(id), Pad: int32(id >> 32)}
	var failure error
	err := s.raw.Control(func(fd uintptr) { failure = unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, int(fd), &event) })
	s.remind = func(fd uintptr) { _ = unix.EpollCtl(p.fd, unix.EPOLL_CTL_MOD, int(fd), &event) }
	return errors.Join(err, failure)
}

// gone reports whether the client has closed its end, though what it sent before may not have been read.
func (s *socket) gone() bool {
	fds := [1]unix.PollFd{{Events: unix.POLLRDHUP}}
	_ = s.raw.Control(func(fd uintptr) {
		fds[0].Fd = int32(fd)
		_, _ = unix.Poll(fds[:], 0)
	})
	return s.ending || fds[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}

// wait waits until there is something to read, and appends what to dst. One goroutine
// waits at a time. The error is final.
func (p *poller) wait(dst []arrival) ([]arrival, error) {
	if err := p.raw.Read(p.take); err != nil {
		return dst, err
	}
	if p.err != nil {
		return dst, fmt.Errorf("proxy: waiting for clients: %w", p.err)
	}
	for _, event := range p.events[:p.n] {
		dst = append(dst, arrival{
			id:     int64(event.Pad)<<32 | int64(uint32(event.Fd)),
			ending: event.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0,
		})
	}
	return dst, nil
}

// stop ends waiting, for ever.
func (p *poller) stop() { _ = p.file.SetReadDeadline(time.Unix(1, 0)) }

// close is for when nobody uses the poller any more.
func (p *poller) close() { p.file.Close() }
