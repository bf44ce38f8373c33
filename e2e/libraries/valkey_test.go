//go:build unix

package libraries

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valkey-io/valkey-go"
)

// valkey-go is rueidis under other names, which are no interface.

type valkeyClient struct{ valkey.Client }

func dialValkey(options valkey.ClientOption) func(*testing.T, string) client {
	return func(t *testing.T, port string) client {
		options := options
		options.InitAddress = []string{"127.0.0.1:" + port}
		c, err := valkey.NewClient(options)
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return valkeyClient{c}
	}
}

func (c valkeyClient) set(key, value string) error {
	return c.Do(context.Background(), c.B().Set().Key(key).Value(value).Build()).Error()
}

func (c valkeyClient) get(key string) (string, error) {
	return c.Do(context.Background(), c.B().Get().Key(key).Build()).ToString()
}

func (c valkeyClient) incr(key string) error {
	return c.Do(context.Background(), c.B().Incr().Key(key).Build()).Error()
}

func (c valkeyClient) incrs(keys []string) (list []valkey.Completed) {
	for _, key := range keys {
		list = append(list, c.B().Incr().Key(key).Build())
	}
	return list
}

func (c valkeyClient) pipe(keys ...string) error {
	return firstError(c.DoMulti(context.Background(), c.incrs(keys)...))
}

func (c valkeyClient) tx(keys ...string) error {
	return c.Dedicated(func(d valkey.DedicatedClient) error {
		list := append([]valkey.Completed{d.B().Multi().Build()}, c.incrs(keys)...)
		replies := d.DoMulti(context.Background(), append(list, d.B().Exec().Build())...)
		return replies[len(replies)-1].Error()
	})
}

func (c valkeyClient) scan(pattern string) (int, error) {
	seen := map[string]bool{}
	for cursor := uint64(0); ; {
		page, err := c.Do(context.Background(), c.B().Scan().Cursor(cursor).Match(pattern).Count(100).Build()).AsScanEntry()
		if err != nil {
			return 0, err
		}
		for _, key := range page.Elements {
			seen[key] = true
		}
		if cursor = page.Cursor; cursor == 0 {
			return len(seen), nil
		}
	}
}
