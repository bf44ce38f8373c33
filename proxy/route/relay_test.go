package route

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay stands between a coordinator and a node, and is the network that fails: it
// can hold every byte back (the node is silent), cut the connections, and take no new ones.
type relay struct {
	listener net.Listener
	target   string
	closed   chan struct{}
	wait     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	gate  chan struct{} // closed while bytes may pass
	down  bool
}

func startRelay(t testing.TB, target string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{listener: listener, target: target, closed: make(chan struct{}), conns: map[net.Conn]bool{}, gate: make(chan struct{})}
	close(r.gate)
	r.wait.Go(r.accept)
	t.Cleanup(r.close)
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.target)
		if err != nil || !r.admit(near, far) {
			near.Close()
			if err == nil {
				far.Close()
			}
			continue
		}
		r.wait.Go(func() { r.pump(near, far) })
		r.wait.Go(func() { r.pump(far, near) })
	}
}

func (r *relay) admit(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		if !r.down {
			r.conns[c] = true
		}
	}
	return !r.down
}

// pump passes bytes on in one direction, and ends both when one ends.
func (r *relay) pump(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-r.open():
		case <-r.closed:
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (r *relay) open() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gate
}

// freeze holds back all bytes until thaw.
func (r *relay) freeze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = make(chan struct{})
}

func (r *relay) thaw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.gate:
	default:
		close(r.gate)
	}
}

// cut ends all connections; new ones can be made.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.Close()
	}
	clear(r.conns)
}

// setDown ends all connections and takes no more, or takes them again.
func (r *relay) setDown(down bool) {
	r.mu.Lock()
	r.down = down
	r.mu.Unlock()
	if down {
		r.cut()
	}
}

func (r *relay) close() {
	r.listener.Close()
	r.setDown(true)
	close(r.closed)
	r.wait.Wait()
}
