//go:build unix

package e2e

import (
	"context"
	"crypto/tls"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	os.Exit(cluster.Main(m))
}

// quiet drops what go-redis logs of connections that break, which tests break on purpose.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// operationTimeout and slowTimeout are the defaults of --operation-timeout and --slow-timeout; slack is
// what a busy machine may add to them.
const (
	operationTimeout = time.Second
	slowTimeout      = 5 * time.Minute
	slack            = 2 * time.Second
)

// connect returns a go-redis client that repeats nothing by itself and waits longer
// than the proxy does.
func connect(t testing.TB, address string) *redis.Client {
	return connectFor(t, address, operationTimeout+slack)
}

// connectFor is connect with another time to wait for a reply.
func connectFor(t testing.TB, address string, readTimeout time.Duration) *redis.Client {
	return login{}.connectFor(t, address, readTimeout)
}

// login is how a client gets in: as which user, and with TLS, if that is not nil.
type login struct {
	user, password string
	tls            *tls.Config
}

func (l login) connectFor(t testing.TB, address string, readTimeout time.Duration) *redis.Client {
	client := redis.NewClient(&redis.Options{
		Addr: address, Username: l.user, Password: l.password, TLSConfig: l.tls, MaxRetries: -1, ReadTimeout: readTimeout, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// needs skips the test if a program is not installed.
func needs(t testing.TB, program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}

// output runs a program to its end, which must come within a minute and be a good one.
func output(t testing.TB, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	require.NoError(t, err, "%s %q: %s", program, args, out)
	return string(out)
}
