package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/config"
)

// shell runs command lines in-process, with long-running commands that only take
// note of their configuration.
type shell struct {
	environ []string
	signals chan os.Signal
	exits   []int
	node    config.Node
	proxy   config.Proxy
	dev     config.Dev
	// during runs in place of a node, proxy or dev.
	during func(ctx context.Context) error
}

func newShell() *shell {
	return &shell{signals: make(chan os.Signal, 2), during: func(context.Context) error { return nil }}
}

func (s *shell) run(args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	a := &app{
		stdout: &out, stderr: &err, environ: s.environ, signals: s.signals,
		exit: func(code int) { s.exits = append(s.exits, code) },
		node: func(ctx context.Context, c config.Node, _ *slog.Logger) error { s.node = c; return s.during(ctx) },
		proxy: func(ctx context.Context, c config.Proxy, _ *config.File, _ *slog.Logger) error {
			s.proxy = c
			return s.during(ctx)
		},
		dev: func(ctx context.Context, c config.Dev, _ *slog.Logger, w io.Writer, _ form) error {
			s.dev = c
			_, _ = io.WriteString(w, "running\n")
			return s.during(ctx)
		},
	}
	code = a.run(args)
	return code, out.String(), err.String()
}

func TestWrongUsageEndsWithCode2AndOneLineEach(t *testing.T) {
	for line, want := range map[string]string{
		"rng":                         "quoll: unknown command \"rng\" for \"quoll\"; did you mean ring?\nSee 'quoll --help'.\n",
		"ring stat":                   "quoll: unknown command \"stat\" for \"quoll ring\"; did you mean status?\nSee 'quoll ring --help'.\n",
		"ring locate":                 "quoll: give one KEY; quote it if it has blanks\nSee 'quoll ring locate --help'.\n",
		"ring locate a b":             "quoll: give one KEY; quote it if it has blanks\nSee 'quoll ring locate --help'.\n",
		"ring status -o xml":          "quoll: output: \"xml\" is neither table nor json\n",
		"ring status --admin x":       "quoll: admin: \"x\" is not host:port\n",
		"verify --addr x --for 1ms":   "quoll: addr: \"x\" is not host:port\nquoll: for: 1ms is less than 1s\n",
		"verify --clients 0 --keys 0": "quoll: clients: 0 is not from 1 to 1000\nquoll: keys: 0 is not from 1 to 100000\n",
		"verify --queue --keys 1001":  "quoll: keys: 1001 is not from 1 to 1000, with --queue\n",
		"verify --queue --transfers":  "quoll: transfers: not together with --queue: run them one beside the other\n",
		"verify -o xml":               "quoll: output: \"xml\" is neither table nor json\n",
		"verify --addr 127.0.0.1:1":   "quoll: addr: cannot connect to 127.0.0.1:1: connect: connection refused; is a proxy or server listening there?\n",
		"bench --addr x --depth 0":    "quoll: addr: \"x\" is not host:port\nquoll: depth: 0 is not from 1 to 10000\n",
		"bench -o xml":                "quoll: output: \"xml\" is none of table, json, csv\n",
		"bench --count 0 --keys 0":    "quoll: keys: 0 is not from 1 to 2147483647\nquoll: count: 0 commands are nothing to measure\n",
		"bench --commands set,hgte":   "quoll: commands: \"hgte\" is none of set, get, hset, hget, hgetall, hincrby, hdel, rpush, lpush, lpop, sadd, sismember, zadd, zscore, zrange, exec, mset, evalsha; did you mean hget?\n",
		"bench --workload smple":      "quoll: workload: \"smple\" is none of simple, mixed, batch, load; did you mean simple?\n",
		"bench --fields 0":            "quoll: fields: 0 is not from 1 to 100000000\n",
		"bench --value-size 1q":       "quoll: value-size: \"1q\" is not a size such as 65536, 64mb or 64MiB\n",
		"bench --value-size 1gb":      "quoll: value-size: 1073741824 is not from 1 to 67108864\n",
		"health --jsn":                "quoll: unknown flag: --jsn; did you mean --json?\nSee 'quoll health --help'.\n",
		"health --json=maybe":         "quoll: json: \"maybe\" is neither true nor false\n",
		"node restroe":                "quoll: unknown command \"restroe\" for \"quoll node\"; did you mean restore?\nSee 'quoll node --help'.\n",
		"node backup --to - --json":   "quoll: output: standard output is the backup: give --to a file, or leave --json out and look at what was written with --check\n",
		"bench --addr 127.0.0.1:1":    "quoll: addr: nothing listens on 127.0.0.1:1: start the server, or give its --addr\n",
		"bench --password-file /none": "quoll: password-file: cannot be read: open /none: no such file or directory\n",
		"import":                      "quoll: from: give --from redis://host:port, or --rdb FILE\n",
		"import --from x --rdb y":     "quoll: from: give --from redis://host:port, or --rdb FILE\n",
		"export --connections 0":      "quoll: to: give --to redis://host:port\nquoll: connections: 0 is not from 1 to 64\n",
		"import --rdb x --rate 1":     "quoll: rate: 1 is out of range: at least 1KiB, or 0 for no limit\n",
		"import --rdb x --sample -1":  "quoll: sample: -1 is not from 0 to 1000000\n",
		"import --rdb x --addr :1":    "quoll: addr: :1: dial tcp :1: connect: connection refused\n",
		"dev --nods 3":                "quoll: unknown flag: --nods; did you mean --nodes?\nSee 'quoll dev --help'.\n",
		"dev extra":                   "quoll: unknown command \"extra\" for \"quoll dev\"\nSee 'quoll dev --help'.\n",
		"dev --nodes many":            "quoll: nodes: \"many\" is not a whole number\n",
		"dev --listen :1 --admin :2":  "quoll: listen: other machines can reach :1 and no password is set: give --password-file (or --password), or --insecure if the network keeps strangers out, or listen on 127.0.0.1\nquoll: admin: other machines can reach :2 and no secret is set: give --secret-file (or --secret), or --insecure if the network keeps strangers out, or listen on 127.0.0.1\n",
		"dev --engine badger":         "quoll: data: is required with --engine badger: a directory of its own, e.g. /var/lib/quoll\n",
		"dev --data x --cache 1gb":    "quoll: data: is for --engine badger or pebble, the memory engine keeps nothing on disk: give --engine badger, or leave --data out\nquoll: cache: is for --engine badger or pebble, the memory engine keeps nothing on disk: give --engine badger, or leave --cache out\n",
		"dev --fsync never":           "quoll: fsync: \"never\" is neither \"always\" nor \"interval=DURATION\" with a duration from 1ms to 10s, such as interval=100ms\n",
		"proxy":                       "quoll: nodes: is required: the peer address of one node or more, e.g. 10.0.0.1:7000,10.0.0.2:7000\n",
	} {
		code, stdout, stderr := newShell().run(strings.Fields(line)...)
		require.Equal(t, exitUsage, code, line)
		require.Empty(t, stdout, line)
		require.Equal(t, want, stderr, line)
	}
}

func TestHelpIsThereForEveryCommand(t *testing.T) {
	for _, line := range []string{"", "dev", "node", "proxy", "ring", "ring status", "ring locate", "ring repair", "health", "import", "export", "bench", "version"} {
		code, stdout, stderr := newShell().run(append(strings.Fields(line), "--help")...)
		require.Equal(t, exitOK, code, line)
		require.Empty(t, stderr, line)
		require.Contains(t, stdout, "quoll "+line, line)
		if line != "ring" {
			require.Contains(t, stdout, "Examples:", line)
		}
	}
	code, stdout, _ := newShell().run()
	require.Equal(t, exitOK, code)
	require.Contains(t, stdout, "3  ring status: the cluster is not healthy")
	code, stdout, _ = newShell().run("completion", "bash")
	require.Equal(t, exitOK, code)
	require.Contains(t, stdout, "bash completion")
}

func TestSettingsReachTheCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quoll.yaml")
	require.NoError(t, os.WriteFile(path, []byte("initial-cluster: {a: h:1, b: h:2}\nweight: 5\n"), 0o600))
	s := newShell()
	s.environ = []string{"QUOLL_CONFIG=" + path, "QUOLL_REPLICAS=2", "QUOLL_SECRET=hush"}
	code, _, stderr := s.run("node", "--name", "a", "--peer", ":7000", "--log-format", "json")
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, []any{"a=h:1,b=h:2", 5, 2, "h:1", "hush"},
		[]any{s.node.InitialCluster, s.node.Weight, s.node.Replicas, s.node.AdvertisePeer, s.node.Secret.Reveal()})
	require.Contains(t, stderr, `"msg":"starting"`)
	require.Contains(t, stderr, `"secret":"(set)"`)
	require.NotContains(t, stderr, "hush")

	s = newShell()
	code, _, stderr = s.run("proxy", "--nodes", "h:1,h:2", "--requirepass", "hush")
	require.Equal(t, exitOK, code)
	require.Equal(t, []string{"h:1", "h:2"}, s.proxy.Nodes)
	require.Contains(t, stderr, "config.max-bulk=64MiB")
	require.Contains(t, stderr, "config.password=(set)")

	s = newShell()
	code, stdout, stderr := s.run("dev", "--nodes", "5")
	require.Equal(t, exitOK, code)
	require.Equal(t, 5, s.dev.Nodes)
	require.Equal(t, "running\n", stdout)
	require.Empty(t, stderr, "dev is quiet when all is well")
}

func TestFailuresEndWithCode1AndNoUsage(t *testing.T) {
	s := newShell()
	s.during = func(context.Context) error { return errors.New("it broke") }
	code, _, stderr := s.run("dev")
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: it broke\n", stderr)
}

func TestFirstSignalEndsInOrderSecondAtOnce(t *testing.T) {
	s := newShell()
	s.during = func(ctx context.Context) error {
		s.signals <- os.Interrupt
		<-ctx.Done()
		return nil
	}
	code, _, stderr := s.run("dev")
	require.Equal(t, exitOK, code, stderr)
	require.Empty(t, s.exits)

	s = newShell()
	exited := make(chan int, 1)
	a := &app{signals: s.signals, exit: func(code int) { exited <- code }}
	ctx, stop := a.untilSignal(t.Context())
	s.signals <- os.Interrupt
	<-ctx.Done()
	s.signals <- os.Interrupt
	require.Equal(t, exitFailure, <-exited)
	stop()
}
