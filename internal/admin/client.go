package admin

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Errors of a Client, wrapped in sentences that say what to do.
var (
	ErrUnreachable  = errors.New("cannot reach the admin API")
	ErrUnauthorized = errors.New("the admin API asks for the cluster's secret")
	ErrNotReady     = errors.New("not ready")
)

// maxAnswer bounds an answer that the client reads.
const maxAnswer = 64 << 20

// Client asks the admin API of a running process.
type Client struct {
	base   string
	secret string
	http   *http.Client
}

// NewClient returns a client for an address: host:port, or an http or https URL. An
// empty host, or one that stands for all interfaces, is this machine. Call Close when
// done.
func NewClient(address, secret string) *Client {
	return NewTLSClient(address, secret, nil)
}

// NewTLSClient is NewClient with settings of TLS: unless they are nil, host:port is asked by HTTPS.
func NewTLSClient(address, secret string, config *tls.Config) *Client {
	base := strings.TrimSuffix(address, "/")
	scheme := "http://"
	if config != nil {
		scheme = "https://"
	}
	if !strings.Contains(base, "://") {
		base = scheme + reachable(base)
	}
	// No proxy of the environment: what is asked is in the same network.
	return &Client{base: base, secret: secret, http: &http.Client{
		Timeout:       2 * answerTimeout,
		Transport:     &http.Transport{DialContext: (&net.Dialer{Timeout: 3 * time.Second}).DialContext, TLSClientConfig: config},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close releases the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// reachable replaces a host that can be listened on but not dialled.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "" && (ip == nil || !ip.IsUnspecified()) {
		return address
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// Status returns the cluster as the process sees it.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var status Status
	return status, c.ask(ctx, "/v1/status", &status)
}

// Locate returns where a key of a database lives. The key may be any bytes.
func (c *Client) Locate(ctx context.Context, number int, key []byte) (Location, error) {
	var location Location
	return location, c.ask(ctx, fmt.Sprintf("/v1/locate?database=%d&key64=%s", number, base64.RawURLEncoding.EncodeToString(key)), &location)
}

// Ready returns nil if the process can serve. If it runs but cannot, the error wraps
// ErrNotReady and says why.
func (c *Client) Ready(ctx context.Context) error {
	code, body, err := c.get(ctx, "/readyz")
	switch {
	case err != nil:
		return err
	case code == http.StatusOK:
		return nil
	case code == http.StatusServiceUnavailable:
		return fmt.Errorf("%w: %s", ErrNotReady, strings.TrimPrefix(strings.TrimSpace(string(body)), "not ready: "))
	}
	return c.stranger(code)
}

// ask gets a JSON answer.
func (c *Client) ask(ctx context.Context, path string, into any) error {
	return c.askWith(ctx, http.MethodGet, path, into)
}

// askWith is ask with another method.
func (c *Client) askWith(ctx context.Context, method, path string, into any) error {
	code, body, err := c.fetch(ctx, method, path)
	if err != nil {
		return err
	}
	if code == http.StatusOK {
		if err := json.Unmarshal(body, into); err != nil {
			return fmt.Errorf("%w (%w)", c.stranger(code), err)
		}
		return nil
	}
	return c.refused(code, body)
}

// refused is the error that an answer is.
func (c *Client) refused(code int, body []byte) error {
	var failed failure
	if json.Unmarshal(body, &failed) != nil || failed.Error == "" {
		return c.stranger(code)
	}
	if code == http.StatusUnauthorized {
		return fmt.Errorf("%w at %s, and the one given is none or a wrong one: give the right one with --secret-file", ErrUnauthorized, c.base)
	}
	return fmt.Errorf("%s answered: %s", c.base, failed.Error)
}

func (c *Client) get(ctx context.Context, path string) (code int, body []byte, err error) {
	return c.fetch(ctx, http.MethodGet, path)
}

func (c *Client) fetch(ctx context.Context, method, path string) (code int, body []byte, err error) {
	response, err := c.do(ctx, c.http, method, path)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return 0, nil, c.unreachable(err)
	}
	return response.StatusCode, body, nil
}

// do sends a request.
func (c *Client) do(ctx context.Context, through *http.Client, method, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address of an admin API: give host:port with --admin", c.base)
	}
	request.Header.Set(DeliberateHeader, "1")
	if c.secret != "" {
		request.Header.Set("Authorization", "Bearer "+c.secret)
	}
	response, err := through.Do(request)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return response, nil
}

// stranger is the error for an answer that is not quoll's.
func (c *Client) stranger(code int) error {
	return fmt.Errorf("what answers at %s is not quoll's admin API (HTTP %d): give its address with --admin", c.base, code)
}

// unreachable says in one sentence why there was no answer.
func (c *Client) unreachable(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var network net.Error
	reason := err.Error()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "connection refused"
	case errors.As(err, &network) && network.Timeout():
		reason = "no answer in time"
	case strings.Contains(reason, "malformed HTTP"):
		reason = "what answers there does not speak HTTP"
	case strings.Contains(reason, "HTTP response to HTTPS client"):
		reason = "it is served without HTTPS: leave out --tls-ca-file"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		reason = "its certificate is not trusted (" + reason + "): give its CA with --tls-ca-file, and a host that the certificate names"
	}
	return &silence{c.base, reason}
}

// silence is the error of an address at which nothing answers. It wraps ErrUnreachable.
type silence struct{ base, reason string }

func (s *silence) Error() string {
	return fmt.Sprintf("%v at %s: %s; is a quoll process running there? give its address with --admin", ErrUnreachable, s.base, s.reason)
}

func (s *silence) Unwrap() error { return ErrUnreachable }
