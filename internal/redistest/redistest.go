// Package redistest starts a real redis-server for tests that compare Quoll with it.
package redistest

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience is how long redis-server may take to start.
const patience = 10 * time.Second

// Start starts a redis-server that keeps nothing on disk and takes values of up to 64 MiB, with further arguments, for the
// length of the test, and returns its address, at which it accepts connections. It skips the
// test where there is none, or one of another line than 7.0.
func Start(t testing.TB, args ...string) (address string) {
	t.Helper()
	version, err := exec.Command("redis-server", "--version").Output()
	if err != nil || !strings.Contains(string(version), "v=7.0.") {
		t.Skip("redis-server 7.0 is not installed (apt-get install redis-server): Quoll is not compared with it")
	}
	for range 5 { // the free port may be taken before the server has it
		address = freeAddress(t)
		if start(t, address, args) {
			return address
		}
	}
	t.Fatal("redistest: redis-server does not start")
	return ""
}

// start reports whether a server got as far as accepting connections.
func start(t testing.TB, address string, args []string) (ready bool) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command("redis-server", append([]string{"--bind", host, "--port", port, "--dir", t.TempDir(),
		"--save", "", "--appendonly", "no", "--proto-max-bulk-len", "64mb"}, args...)...)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-drained
		_ = server.Wait()
	})
	late := time.AfterFunc(patience, func() { _ = server.Process.Kill() })
	defer late.Stop()
	for log := bufio.NewScanner(out); !ready && log.Scan(); {
		ready = strings.Contains(log.Text(), "Ready to accept connections")
	}
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, out)
	}()
	return ready
}

func freeAddress(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
