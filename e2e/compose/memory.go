//go:build linux

package compose

import (
	"fmt"
	"os"
)

// Memory is how much memory the process occupies, in bytes, without files that it has mapped, which the
// system takes back when it needs it. 0 if it does not run.
func (s *Service) Memory() int64 {
	s.cluster.t.Helper()
	pid := s.pid()
	if pid == 0 {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	s.cluster.must(err)
	var size, resident, shared int64
	_, err = fmt.Sscan(string(text), &size, &resident, &shared)
	s.cluster.must(err)
	return (resident - shared) * int64(os.Getpagesize())
}
