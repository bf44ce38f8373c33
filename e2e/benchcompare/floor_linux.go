package main

import (
	"errors"
	"net"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// floorSockets are as many as there are clients.
const floorSockets = 50

// callCosts measures what system calls cost that no design avoids: one write and one read of so many bytes each on sockets of 127.0.0.1, the reads with their share of the wait
// (epoll) that found all sockets ready. Nobody has to be woken up meanwhile.
func callCosts(bytes int) (write, read time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	near, far, end, err := socketPairs(floorSockets)
	if err != nil {
		return 0, 0, err
	}
	defer end()
	poller, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(poller)
	for _, fd := range far {
		if err := unix.EpollCtl(poller, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			return 0, 0, err
		}
	}
	const rounds = 400
	buffer, events := make([]byte, max(1, bytes)), make([]unix.EpollEvent, floorSockets)
	var last time.Duration
	lap := func() (since time.Duration) {
		var now unix.Timespec
		err = errors.Join(err, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))
		since, last = time.Duration(now.Nano())-last, time.Duration(now.Nano())
		return since
	}
	for range rounds {
		lap()
		for _, fd := range near {
			if _, failed := unix.Write(fd, buffer); failed != nil {
				return 0, 0, failed
			}
		}
		write += lap()
		if _, failed := unix.EpollWait(poller, events, -1); failed != nil && !errors.Is(failed, unix.EINTR) {
			return 0, 0, failed
		}
		for _, fd := range far {
			for left := len(buffer); left > 0; {
				n, failed := unix.Read(fd, buffer[:left])
				if failed != nil {
					return 0, 0, failed
				}
				left -= n
			}
		}
		read += lap()
	}
	return write / rounds / floorSockets, read / rounds / floorSockets, err
}

// socketPairs connects sockets over 127.0.0.1. Their reads and writes wait, in the thread that makes them.
func socketPairs(n int) (near, far []int, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, nil, err
	}
	defer listener.Close()
	var all []int
	end = func() {
		for _, fd := range all {
			unix.Close(fd)
		}
	}
	for range n {
		for _, connect := range []func() (net.Conn, error){func() (net.Conn, error) { return net.Dial("tcp", listener.Addr().String()) }, listener.Accept} {
			conn, err := connect()
			if err != nil {
				end()
				return nil, nil, nil, err
			}
			file, err := conn.(*net.TCPConn).File()
			conn.Close()
			if err != nil {
				end()
				return nil, nil, nil, err
			}
			fd, err := unix.Dup(int(file.Fd()))
			file.Close()
			if err == nil {
				all = append(all, fd)
				err = unix.SetNonblock(fd, false)
			}
			if err != nil {
				end()
				return nil, nil, nil, err
			}
		}
		near, far = append(near, all[len(all)-2]), append(far, all[len(all)-1])
	}
	return near, far, end, nil
}
