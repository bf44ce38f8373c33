package admin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// chooseTime bounds how long Choose waits for one of several.
const chooseTime = 2 * time.Second

// Choose returns a client of the first of several addresses at which quoll answers, and says of those before it why they
// do not. If none does the error says so of each. A single address is not tried: whoever uses it will see. The caller
// closes the client. Unless config is nil they are asked by HTTPS. It blocks for up to two seconds for each address.
func Choose(ctx context.Context, addresses []string, secret string, config *tls.Config) (chosen *Client, silent []string, err error) {
	if len(addresses) == 1 {
		return NewTLSClient(addresses[0], secret, config), nil, nil
	}
	for _, address := range addresses {
		c := NewTLSClient(address, secret, config)
		err := c.lives(ctx)
		if err == nil {
			return c, silent, nil
		}
		c.Close()
		silent = append(silent, err.Error())
	}
	return nil, silent, fmt.Errorf("%w: %s; is a quoll process running there? give its address with --admin", ErrUnreachable, strings.Join(silent, "; "))
}

// lives returns nil if quoll answers, ready or not.
func (c *Client) lives(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, chooseTime)
	defer cancel()
	code, _, err := c.get(ctx, "/healthz")
	var silent *silence
	switch {
	case errors.As(err, &silent):
		return fmt.Errorf("no answer from %s (%s)", silent.base, silent.reason)
	case err != nil:
		return err
	case code != http.StatusOK:
		return fmt.Errorf("what answers at %s is not quoll's admin API (HTTP %d)", c.base, code)
	}
	return nil
}
