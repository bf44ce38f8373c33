package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/quolldb/quoll/internal/certs"
	"github.com/quolldb/quoll/internal/config"
)

// dialer is how commands that are clients of Redis' protocol connect to servers: bench, verify, import and export. Nil is plainly, by TCP.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// serverDialer is what settings say, whose flags begin with prefix. Errors are Faults.
func serverDialer(cfg config.ServerTLS, prefix string) (dialer, error) {
	if !cfg.TLS {
		return nil, nil
	}
	store, err := certs.Open("server", certs.Files{Cert: cfg.TLSCertFile, Key: cfg.TLSKeyFile, CA: cfg.TLSCaFile})
	if err != nil {
		return nil, config.Faults{{Field: prefix + settingOf(cfg, err), Reason: err.Error()}}
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		secure := tls.Client(conn, store.Client(host))
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: noHandshake(err, prefix)}
		}
		return secure, nil
	}, nil
}

// settingOf is the setting whose file an error names.
func settingOf(cfg config.ServerTLS, err error) string {
	for _, file := range []struct{ setting, path string }{{"tls-cert-file", cfg.TLSCertFile}, {"tls-key-file", cfg.TLSKeyFile}} {
		if file.path != "" && strings.Contains(err.Error(), file.path) {
			return file.setting
		}
	}
	return "tls-ca-file"
}

// noHandshake says why TLS did not come about with a server that is there. It wraps no timeout: the server did accept the connection.
func noHandshake(err error, prefix string) error {
	var plain tls.RecordHeaderError
	var network net.Error
	switch {
	case errors.As(err, &plain), errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return errors.New("it does not answer in TLS: give a port that serves it (--tls-listen of a proxy), or do without")
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return fmt.Errorf("its certificate is not trusted (%w): give its CA with --%stls-ca-file, and a host that the certificate names", err, prefix)
	}
	return fmt.Errorf("no TLS came about: %w%s", err, wantsCertificate(err))
}

// explainServer is what explain says of a server that cannot be used, with what to do if TLS may be the reason: a server that wants a certificate says so after the handshake,
// one that wants a handshake hangs up.
func explainServer(err error) string {
	if errors.Is(err, io.EOF) {
		return explain(err) + "; a port for TLS needs --tls"
	}
	return explain(err) + wantsCertificate(err)
}

// wantsCertificate ends a sentence about a server that refuses a client for its certificate.
func wantsCertificate(err error) string {
	text := err.Error()
	if strings.Contains(text, "--tls-cert-file") || !strings.Contains(text, "tls: certificate required") && !strings.Contains(text, "tls: bad certificate") {
		return ""
	}
	return "; give a certificate that it takes (--tls-cert-file and --tls-key-file)"
}
