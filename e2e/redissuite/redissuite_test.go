//go:build unix

package redissuite

import (
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/artifact"
)

var (
	source = flag.String("redis-source", "", "`directory` with the source of redis-server; none: the test is skipped")
	only   = flag.String("unit", "", "run this `unit` of the suite only")
	// The suite uses the databases 9 to 11, mostly the first. Spread, as they are by themselves, it finds that commands on keys of several slots are refused.
	together = flag.Bool("together", false, "place the keys of all databases together, each in one slot: as on one Redis")
)

// units are the units of the suite that are about what Quoll has. The others are about persistence, replication, memory limits and
// modules of Redis, or about commands of which Quoll has none.
var units = []string{
	"unit/type/string", "unit/type/incr", "unit/type/hash", "unit/type/list", "unit/type/list-2", "unit/type/list-3", "unit/type/set", "unit/type/zset", "unit/type/stream", "unit/type/stream-cgroups",
	"unit/multi", "unit/other", "unit/expire", "unit/scan", "unit/keyspace", "unit/bitops", "unit/bitfield", "unit/geo", "unit/hyperloglog", "unit/sort", "unit/dump", "unit/protocol",
	"unit/functions", "unit/introspection", "unit/introspection-2", "unit/slowlog", "unit/latency-monitor", "unit/info-command", "unit/pause",
	"unit/pubsub", "unit/pubsubshard", "unit/tracking", "unit/acl", "unit/acl-v2", "unit/maxmemory",
}

// onOneNode are the options for units that are run on a cluster of one node. Those of CLIENT TRACKING count messages, and read the next one: of three replicas one that is late may tell of a version
// that has been read already, which is a message for nothing (package protocol, rules of keys that are watched).
// Those of keys that are evicted count what a key takes.
var onOneNode = map[string][]string{"unit/tracking": {"--nodes", "1", "--replicas", "1"}, "unit/maxmemory": {"--nodes", "1", "--replicas", "1"}}

// patience is how long one unit may take.
const patience = 10 * time.Minute

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// TestRedisSuite runs each unit on a cluster of its own.
func TestRedisSuite(t *testing.T) {
	if *source == "" {
		t.Skip("make redis-suite fetches the source of redis-server, and runs this")
	}
	suite := adapted(t, *source)
	known := readKnown(t, map[bool]string{false: "testdata/failing.txt", true: "testdata/failing-together.txt"}[*together])
	require.True(t, *only == "" || slices.Contains(units, *only), "%s is none of the units that are run: %s", *only, strings.Join(units, " "))
	for _, unit := range units {
		if *only != "" && *only != unit {
			continue
		}
		t.Run(unit, func(t *testing.T) {
			passed, failed := run(t, suite, unit)
			t.Logf("%d tests passed, %d failed", passed, len(failed))
			require.NotZero(t, passed+len(failed), "the suite ran no test: see %s", artifact.Dir(t))
			for _, name := range failed {
				if !slices.ContainsFunc(known[unit], func(k pattern) bool { return k.MatchString(name) }) {
					t.Errorf("failed: %s", name)
				}
			}
			for _, k := range known[unit] {
				if !slices.ContainsFunc(failed, k.MatchString) {
					t.Errorf("did not fail, but stands in testdata/failing.txt: %s", k.text)
				}
			}
		})
	}
}

// adapted returns a directory with a copy of the suite that gets on with Quoll.
func adapted(t *testing.T, source string) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "tests"), os.DirFS(filepath.Join(source, "tests"))))
	replace(t, filepath.Join(dir, "tests/test_helper.tcl"), "\n    [srv $level \"client\"] {*}$args\n}", `
    if {[string equal -nocase [lrange $args 0 1] "config set"]} {
        catch {[srv $level "client"] {*}$args}
        return OK
    }
    [srv $level "client"] {*}$args
}`)
	// A test that fails leaves its connection as it is: in a transaction that was refused, or in another version of the protocol.
	replace(t, filepath.Join(dir, "tests/support/test.tcl"), "\n        if {$assertion || $::durable} {\n", "\n        if {$assertion || $::durable} {\n            catch {reconnect}\n")
	// Only what is behind it needs two servers.
	replace(t, filepath.Join(dir, "tests/unit/pubsubshard.tcl"), `{"pubsubshard external:skip"}`, `{"pubsubshard"}`)
	// What is behind the first part needs servers that are started with a configuration, or an ACL file, of their own.
	for _, unit := range []string{"acl", "acl-v2"} {
		replace(t, filepath.Join(dir, "tests/unit", unit+".tcl"), `{tags {"acl external:skip"}}`, `{tags {"acl"}}`)
	}
	// What the data take is none of the memory of a proxy's process. The other parts are about what clients and replicas take of the limit.
	maxmemory := filepath.Join(dir, "tests/unit/maxmemory.tcl")
	replace(t, maxmemory, "start_server {tags {\"maxmemory external:skip\"}} {\n    test \"Without", "start_server {tags {\"maxmemory\"}} {\n    test \"Without")
	for range 3 { // of which each does so for several policies
		// A proxy asks the nodes what they hold five times a second, and writes that were refused go on a second after there is room.
		replace(t, maxmemory, "            r flushall\n            # Get", "            r flushall\n            after 1500\n            # Get")
		// Keys go a little before the limit, and what is written meanwhile takes a little more.
		replace(t, maxmemory, "[s used_memory]\n", "[s used_memory_dataset]\n")
		replace(t, maxmemory, "{[s used_memory]+4096 > $limit}", "{[s used_memory_dataset]+16384 > $limit}")
		replace(t, maxmemory, "{[s used_memory] < ($limit+4096)}", "{[s used_memory_dataset] < ($limit+16384)}")
	}
	// Which of two connections is heard first is not sure.
	xread := "$rd XREAD BLOCK 0 STREAMS mystream \"$\"\n"
	replace(t, filepath.Join(dir, "tests/unit/type/stream-cgroups.tcl"), xread+"        r SET mystream val1", xread+"        wait_for_blocked_clients_count 1\n        r SET mystream val1")
	return dir
}

// replace replaces the first occurrence of a text in a file, which must be there.
func replace(t *testing.T, path, old, with string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), old, path)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o644))
}

// run runs a unit, and returns how many of its tests passed, and the names of those that failed, in their order, each once.
func run(t *testing.T, suite, unit string) (passed int, failed []string) {
	address := cluster.FreeAddress(t)
	adminAddress := cluster.FreeAddress(t)
	dev := cluster.NewProcess(t, "dev", append([]string{"dev", "--listen", address, "--admin", adminAddress}, onOneNode[unit]...)...)
	dev.Start()
	dev.AwaitLog("Quoll runs: ")
	for number := range 16 {
		if *together {
			cluster.Await(t, "the database is placed together, once all nodes vote", func() bool {
				_, _, code := cluster.Run(t, nil, "ring", "keyspace", "set", strconv.Itoa(number), "placement=together", "--admin", adminAddress)
				return code == 0
			})
		}
	}
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tclsh", "tests/test_helper.tcl", "--host", host, "--port", port, "--ignore-encoding", "--ignore-digest",
		"--durable", "--skiptest", "/^Keyspace notifications: evicted", "--tags", "-needs:debug", "--single", unit,
		// A client that tracks is taken to read the keys that it gives a script. They leave what it is told of them to the tests behind them, which then wait for ever.
		"--skiptest", "Invalid keys should not be tracked for scripts in NOLOOP mode", "--skiptest", "Tracking only occurs for scripts when a command calls a read-only command",
		// Keys are not evicted by the command that finds no room, but beside it.
		"--skiptest", "Tracking invalidation message of eviction keys should be before response")
	cmd.Dir, cmd.Env = suite, append(os.Environ(), "TERM=dumb") // no colours
	out, err := cmd.CombinedOutput()
	require.NoError(t, os.WriteFile(filepath.Join(artifact.Dir(t), "suite.log"), out, 0o644))
	var failures *exec.ExitError // of which the suite makes its exit status
	if err != nil {
		require.ErrorAs(t, err, &failures)
	}
	require.NoError(t, ctx.Err(), "the suite did not end:\n%s", out)
	return results(string(out))
}

var (
	okLine  = regexp.MustCompile(`(?m)^\[ok\]: `)
	errLine = regexp.MustCompile(`(?m)^\[(?:err|exception)\]: (.*)$`)
	where   = regexp.MustCompile(` in tests/\S+\.tcl$`)
)

// results reads what the suite printed.
func results(out string) (passed int, failed []string) {
	out, _, _ = strings.Cut(out, "The End") // behind which failures stand once more
	for _, match := range errLine.FindAllStringSubmatch(out, -1) {
		if name := where.ReplaceAllString(match[1], ""); !slices.Contains(failed, name) {
			failed = append(failed, name)
		}
	}
	return len(okLine.FindAllString(out, -1)), failed
}

// pattern is the name of a test that fails, or of several: * stands for anything.
type pattern struct {
	*regexp.Regexp
	text string
}

// readKnown reads the list of tests that fail: lines of a unit, a colon, and a pattern. Lines that begin with # are reasons.
func readKnown(t *testing.T, path string) map[string][]pattern {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	known := make(map[string][]pattern)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		unit, name, ok := strings.Cut(line, ": ")
		require.True(t, ok, line)
		require.Contains(t, units, unit, line)
		quoted := strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*")
		known[unit] = append(known[unit], pattern{regexp.MustCompile("^" + quoted + "$"), name})
	}
	return known
}
