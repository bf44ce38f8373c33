//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/quolldb/quoll/e2e/cluster"
)

// Attacks of TestHostile by bytes, connections and passwords.

func tornPackets(ctx context.Context, h hostileTargets, random *rand.Rand) {
	packets := hostile()
	each(ctx, time.Millisecond, func() {
		conn, effect := dialHostile(ctx, h.tcp[random.IntN(len(h.tcp))]), "torn packets"
		if random.IntN(4) == 0 { // what is behind TLS is reached by who has a certificate
			conn, effect = h.stolen.dial(ctx, []tlsPort{h.secured()[0], h.secured()[1]}[random.IntN(2)]), effect+" within TLS"
		}
		if conn == nil {
			return
		}
		defer conn.Close()
		h.did(effect)
		packet := packets[random.IntN(len(packets))]
		for len(packet) > 0 {
			n := 1 + random.IntN(len(packet))
			if _, err := conn.Write(packet[:n]); err != nil {
				return
			}
			packet = packet[n:]
		}
	})
}

// slowLoris sends a byte now and then on many connections to each port.
func slowLoris(ctx context.Context, h hostileTargets, random *rand.Rand) {
	var conns []net.Conn
	says := map[string]string{h.client: "*2\r\n$4\r\nAUTH\r\n$16384\r\n", h.peer: "\xff\x00\x00\x00", h.gossip: "\x02"}
	each(ctx, 5*time.Millisecond, func() {
		if len(conns) < 1000 {
			address := h.tcp[random.IntN(len(h.tcp))]
			if conn := dialHostile(ctx, address); conn != nil {
				first := says[address]
				if first == "" {
					first = "POST /v1/repair HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\nX-A: "
				}
				_, _ = io.WriteString(conn, first)
				conns = append(conns, conn)
				h.did("connections that say nearly nothing")
			}
		}
		i := random.IntN(len(conns) + 1)
		if i == len(conns) {
			return
		}
		if _, err := conns[i].Write([]byte("a")); err != nil {
			conns[i].Close()
			conns = slices.Delete(conns, i, i+1)
		}
	})
}

// idlers takes more connections of the proxy than there are.
func idlers(ctx context.Context, h hostileTargets, _ *rand.Rand) {
	var conns []net.Conn
	each(ctx, 2*time.Millisecond, func() {
		if conn := dialHostile(ctx, h.client); conn != nil {
			conns = append(conns, conn)
			h.did("connections that say nothing")
		}
		if len(conns) > 1500 {
			for _, conn := range conns {
				conn.Close()
			}
			conns = nil
		}
	})
}

// forgedGossip sends what memberlist's messages begin with, and noise.
func forgedGossip(ctx context.Context, h hostileTargets, random *rand.Rand) {
	conn, err := net.Dial("udp", h.gossip)
	if err != nil {
		return
	}
	defer conn.Close()
	packet := make([]byte, 1400)
	each(ctx, time.Millisecond, func() {
		for i := range packet {
			packet[i] = byte(random.Uint32())
		}
		packet[0] = byte(random.IntN(16))
		if _, err := conn.Write(packet[:1+random.IntN(len(packet)-1)]); err == nil {
			h.did("gossip of strangers")
		}
	})
}

func wrongSecrets(ctx context.Context, h hostileTargets, random *rand.Rand) {
	paths := []string{"GET /v1/status", "GET /metrics", "GET /v1/backup", "POST /v1/reform?accept-loss=true", "POST /v1/ring/commit", "GET /debug/pprof/profile?seconds=60"}
	client := http.Client{Timeout: time.Second, Transport: cluster.AdminTransport}
	each(ctx, 2*time.Millisecond, func() {
		method, path, _ := strings.Cut(paths[random.IntN(len(paths))], " ")
		request, err := http.NewRequestWithContext(ctx, method, h.admins[random.IntN(2)]+path, bytes.NewReader(make([]byte, random.IntN(10_000))))
		if err != nil {
			return // it is over
		}
		request.Header.Set("Authorization", fmt.Sprint("Bearer ", random.Uint64()))
		response, err := client.Do(request)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		switch response.StatusCode {
		case http.StatusOK:
			h.t.Errorf("%s %s was answered", method, path)
		case http.StatusUnauthorized:
			h.did("wrong secrets refused")
		}
	})
}

// wrongPasswords guesses, from another address than the victim's: an address that guesses is not listened to.
func wrongPasswords(ctx context.Context, h hostileTargets, random *rand.Rand) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 66)}, Timeout: time.Second}
	each(ctx, time.Millisecond, func() {
		conn, err := dialer.DialContext(ctx, "tcp", h.client)
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		answers := bufio.NewReader(conn)
		for range 100 {
			if _, err := fmt.Fprintf(conn, "AUTH %d\r\n", random.Uint64()); err != nil {
				return
			}
			answer, err := answers.ReadString('\n')
			if err != nil {
				return
			}
			if answer[0] != '-' {
				h.t.Errorf("a guess was answered %q", answer)
			}
			if strings.HasPrefix(answer, "-WRONGPASS ") {
				h.did("wrong passwords refused")
			}
		}
	})
}

// letIn connects as somebody who has the password, with TLS or without.
func letIn(ctx context.Context, h hostileTargets, random *rand.Rand) net.Conn {
	var conn net.Conn
	if random.IntN(2) == 0 {
		conn = dialHostile(ctx, h.client)
	} else {
		conn = h.stolen.dial(ctx, h.secured()[0])
	}
	if conn == nil {
		return nil
	}
	_, _ = fmt.Fprintf(conn, "AUTH %q\r\n", hostilePassword)
	return conn
}

// neverRead asks for much, and takes nothing of it.
func neverRead(ctx context.Context, h hostileTargets, random *rand.Rand) {
	value := strings.Repeat("v", 100_000)
	each(ctx, 10*time.Millisecond, func() {
		conn := letIn(ctx, h, random)
		if conn == nil {
			return
		}
		defer conn.Close()
		_, _ = fmt.Fprintf(conn, "*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$%d\r\n%s\r\n", len(value), value)
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		for err := error(nil); err == nil; {
			_, err = io.WriteString(conn, strings.Repeat("GET large\r\n", 1000))
			if errors.Is(err, os.ErrDeadlineExceeded) {
				h.did("pipelines that are never read")
				return
			}
		}
	})
}

// halfSent declares a lot, sends a part and goes.
func halfSent(ctx context.Context, h hostileTargets, random *rand.Rand) {
	part := strings.Repeat("p", 1<<20)
	each(ctx, 50*time.Millisecond, func() {
		conn := letIn(ctx, h, random)
		if conn == nil {
			return
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(conn, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$67108864\r\n"+part); err == nil {
			h.did("commands that are never finished")
		}
		time.AfterFunc(time.Second, func() { conn.Close() })
	})
}

// stalledHandshakes begins what nodes begin, and goes no further; or sends TLS' first message where there may be TLS.
func stalledHandshakes(ctx context.Context, h hostileTargets, random *rand.Rand) {
	begins := []string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\x2c\x00\x00\x00", "QUOLL", "\x00"}
	var conns []net.Conn
	each(ctx, 5*time.Millisecond, func() {
		conn := dialHostile(ctx, h.tcp[random.IntN(len(h.tcp))])
		if conn == nil {
			return
		}
		if _, err := io.WriteString(conn, begins[random.IntN(len(begins))]); err == nil {
			h.did("handshakes of peers that stall")
		}
		if conns = append(conns, conn); len(conns) > 500 {
			conns[0].Close()
			conns = conns[1:]
		}
	})
}
