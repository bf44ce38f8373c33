package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/quolldb/quoll/internal/rawio"
)

// patience is how long a server may take to accept a connection and to answer PING.
const patience = 3 * time.Second

// connect connects to an address of the options, gives the password, and makes sure that a server of Redis' protocol is there. Its errors say in one line what is
// wrong with the address.
func connect(ctx context.Context, opt *Options, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dial := opt.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, cannotConnect(address, err)
	}
	cut := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = greet(conn, address, opt)
	if !cut() && err == nil {
		err = fmt.Errorf("%s answered too late", address)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return rawio.Conn(conn), nil
}

func cannotConnect(address string, err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens on %s: start the server, or give its --addr", address)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not accept a connection within %s", address, patience)
	}
	return fmt.Errorf("cannot connect to %s: %w", address, err)
}

// greet gives the password, asks for a PONG, says READONLY if it is to, and has the script kept that is run.
func greet(conn net.Conn, address string, opt *Options) error {
	in := reader{from: conn, buf: make([]byte, leastBuffer), onRead: func() {}}
	order := func(what string, words ...string) error {
		r, err := ask(conn, &in, address, command(words...))
		if err == nil && r.kind == '-' {
			err = fmt.Errorf("%s refused %s: %s", address, what, r.text)
		}
		return err
	}
	if opt.Password != "" {
		if err := order("the password", "AUTH", opt.Password); err != nil {
			return err
		}
	}
	r, err := ask(conn, &in, address, command("PING"))
	switch {
	case err != nil:
		return err
	case r.kind == '-' && strings.HasPrefix(string(r.text), "NOAUTH"):
		return fmt.Errorf("%s wants a password: give --password-file", address)
	case r.kind == '-':
		return fmt.Errorf("%s answered PING with an error: %s", address, r.text)
	case r.kind != '+':
		return fmt.Errorf("%s is no server of Redis' protocol: it did not answer PING with PONG", address)
	}
	if opt.ReadOnly {
		if err := order("READONLY", "READONLY"); err != nil {
			return err
		}
	}
	if opt.runsScript() {
		return order("the script", "SCRIPT", "LOAD", script)
	}
	return nil
}

func ask(conn net.Conn, in *reader, address string, request []byte) (reply, error) {
	_, err := conn.Write(request)
	if err != nil {
		return reply{}, fmt.Errorf("%s: %w", address, err)
	}
	r, err := in.next()
	switch {
	case errors.Is(err, errNotRESP):
		return reply{}, fmt.Errorf("%s is no server of Redis' protocol: %w", address, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reply{}, fmt.Errorf("%s accepted a connection, but did not answer PING within %s: is it a server of Redis' protocol, and not hung?", address, patience)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return reply{}, fmt.Errorf("%s closed the connection instead of answering PING: is it a server of Redis' protocol, and not full? a port for TLS needs --tls", address)
	}
	return r, err
}
