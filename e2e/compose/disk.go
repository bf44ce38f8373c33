//go:build linux

package compose

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ballast is the file that fills a node's disk.
func (s *Service) ballast() string {
	return fmt.Sprintf("/proc/%d/root/var/lib/quoll/ballast", s.pid())
}

// FillDisk takes all space of a node's disk but some bytes. It is for clusters with
// Config.Disk: the disk of this machine is never filled.
func (s *Service) FillDisk(left int64) {
	s.cluster.t.Helper()
	file, err := os.Create(s.ballast())
	s.cluster.must(err)
	defer file.Close()
	var space syscall.Statfs_t
	s.cluster.must(syscall.Fstatfs(int(file.Fd()), &space))
	const tmpfs = 0x01021994
	if space.Type != tmpfs {
		s.cluster.must(errors.New("compose: only a disk that Config.Disk made is filled"))
	}
	s.cluster.must(syscall.Fallocate(int(file.Fd()), 0, 0, max(1, int64(space.Bavail)*space.Bsize-left)))
}

// FreeDisk ends FillDisk.
func (s *Service) FreeDisk() {
	s.cluster.t.Helper()
	s.cluster.must(os.Remove(s.ballast()))
}
