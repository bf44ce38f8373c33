//go:build unix

package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// An attack of TestHostile by a user who goes on while he is deleted, or his rules change.

const (
	malloryRules = "ACL SETUSER mallory reset on >pw ~mallory:* +get +ping"
	malloryKey   = "mallory:1"
)

// changeOfUser is what is done to mallory in the middle of his pipeline, and what he hears from then on, if he is not disconnected.
type changeOfUser struct{ name, command, hears string }

var changesOfUser = []changeOfUser{
	{"deleted", "ACL DELUSER mallory", ""},
	{"no command any more", "ACL SETUSER mallory -get", "-NOPERM "},
	{"other keys", "ACL SETUSER mallory resetkeys ~other:*", "-NOPERM "},
}

func (c changeOfUser) effect() string { return "user in mid-pipeline: " + c.name }

// userEffects are those of refusedMallory.
var userEffects = []string{"user: a certificate is nobody's", "user: a password is nobody's"}

// changedUsers has one mallory after the other ask for more than the proxy can answer at once. While it waits for him to read he is deleted, or his rules change: what he asks after that gets no data.
func changedUsers(ctx context.Context, h hostileTargets, random *rand.Rand) {
	admin := redis.NewClient(&redis.Options{Addr: h.client, Password: hostilePassword, MaxRetries: -1, ReadTimeout: 10 * time.Second})
	defer admin.Close()
	if err := admin.Set(ctx, malloryKey, strings.Repeat("m", 10_000), 0).Err(); err != nil {
		h.t.Error(err)
	}
	round := 0
	each(ctx, 100*time.Millisecond, func() {
		round++
		if !orders(ctx, h, admin, malloryRules) {
			return
		}
		m := enterMallory(ctx, h, random.IntN(2) == 0)
		if m == nil {
			return
		}
		defer m.conn.Close()
		change := changesOfUser[round%len(changesOfUser)]
		if m.ask(2000) != nil || !m.next(func(reply string) bool { return reply == "data" }) || !orders(ctx, h, admin, change.command) {
			return
		}
		_ = m.ask(50) // an error if he is disconnected already
		if m.hearsNoDataAfter(2000-1, change) {
			h.did(change.effect())
		}
		if change.hears == "" {
			refusedMallory(ctx, h)
		}
	})
}

// orders has the administrator do something.
func orders(ctx context.Context, h hostileTargets, admin *redis.Client, command string) bool {
	var args []any
	for word := range strings.FieldsSeq(command) {
		args = append(args, word)
	}
	err := admin.Do(ctx, args...).Err()
	if err != nil && ctx.Err() == nil {
		h.t.Errorf("%s: %v", command, err)
	}
	return err == nil
}

// mallory is one connection of that user.
type mallory struct {
	h       hostileTargets
	conn    net.Conn
	replies *bufio.Reader
}

// dialMallory connects with his certificate or with another one, from an address of his own: one that guesses passwords is not listened to.
func dialMallory(ctx context.Context, h hostileTargets, certificate string) *mallory {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 67)}, Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", h.secure)
	if err != nil {
		return nil
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	secure := tls.Client(conn, h.stolen.config(certificate, tls.VersionTLS13))
	return &mallory{h, secure, bufio.NewReader(secure)}
}

// enterMallory lets him in by his certificate or by his password.
func enterMallory(ctx context.Context, h hostileTargets, byCertificate bool) *mallory {
	certificate, says, hears := "mallory", "PING\r\n", "+PONG"
	if !byCertificate {
		certificate, says, hears = "alice", "AUTH mallory pw\r\n", "+OK"
	}
	m := dialMallory(ctx, h, certificate)
	if m == nil {
		return nil
	}
	if _, err := io.WriteString(m.conn, says); err != nil || !m.next(func(reply string) bool { return strings.HasPrefix(reply, hears) }) {
		m.conn.Close()
		return nil
	}
	return m
}

// refusedMallory: a user who is gone does not come back, neither by his certificate nor by his password.
func refusedMallory(ctx context.Context, h hostileTargets) {
	for _, try := range []struct{ certificate, says, hears, effect string }{
		{"mallory", "GET " + malloryKey + "\r\n", "-NOAUTH ", userEffects[0]},
		{"alice", "AUTH mallory pw\r\n", "-WRONGPASS ", userEffects[1]},
	} {
		m := dialMallory(ctx, h, try.certificate)
		if m == nil {
			continue
		}
		_, _ = io.WriteString(m.conn, try.says)
		reply, err := m.reply()
		switch {
		case err != nil:
		case strings.HasPrefix(reply, try.hears):
			h.did(try.effect)
		default:
			h.t.Errorf("a user who is deleted says %q and hears %q", try.says, reply)
		}
		m.conn.Close()
	}
}

func (m *mallory) ask(times int) error {
	_, err := io.WriteString(m.conn, strings.Repeat("GET "+malloryKey+"\r\n", times))
	return err
}

// hearsNoDataAfter reads what is answered: data for so many commands at most, which were sent before the change, and then only refusals, or the end of the connection.
func (m *mallory) hearsNoDataAfter(before int, change changeOfUser) bool {
	for i := 0; ; i++ {
		reply, err := m.reply()
		switch {
		case err != nil: // disconnected, if it was not this side that ended it
			return change.hears == "" && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded)
		case reply == "data" && i >= before:
			m.h.t.Errorf("a user (%s) got data for a command that he sent after that", change.name)
			return false
		case reply != "data" && (change.hears == "" || !strings.HasPrefix(reply, change.hears)):
			m.h.t.Errorf("a user (%s) heard %q", change.name, reply)
			return false
		case i == before+50-1:
			return change.hears != ""
		}
	}
}

func (m *mallory) next(wanted func(string) bool) bool {
	reply, err := m.reply()
	return err == nil && wanted(reply)
}

// reply reads one, of which a bulk is "data".
func (m *mallory) reply() (string, error) {
	line, err := m.replies.ReadString('\n')
	if err != nil || line[0] != '$' {
		return line, err
	}
	var size int
	if _, err := fmt.Sscanf(line, "$%d", &size); err != nil || size < 0 {
		return line, err
	}
	_, err = m.replies.Discard(size + 2)
	return "data", err
}
