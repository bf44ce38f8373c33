package config

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// minimal is what each command needs to be told.
var minimal = map[string][]string{
	"node":    {"--name=a", "--initial-cluster=a=h:7000,b=i:7000,c=j:7000"},
	"proxy":   {"--nodes=h:7000"},
	"dev":     {},
	"client":  {},
	"servers": {},
}

func load(command string, args ...string) (Config, error) {
	cfg := commands[command]()
	fs := flagsOf(cfg)
	if err := fs.Parse(append(append([]string{}, minimal[command]...), args...)); err != nil {
		return nil, FlagFault(fs, err)
	}
	return cfg, Load(cfg, fs, nil)
}

func TestDefaultsAreValid(t *testing.T) {
	for command := range commands {
		_, err := load(command)
		require.NoError(t, err, command)
	}
}

// TestANodeThatJoins is told whom to ask, and nothing of the cluster, but its name.
func TestANodeThatJoins(t *testing.T) {
	node := func(args ...string) (*Node, error) {
		cfg, err := load("node", append([]string{"--initial-cluster=", "--join=h:7000,i:7000"}, args...)...)
		n, _ := cfg.(*Node)
		return n, err
	}
	n, err := node("--peer=127.0.0.1:7040")
	require.NoError(t, err)
	require.Equal(t, []any{[]string{"h:7000", "i:7000"}, "127.0.0.1:7040", false}, []any{n.Join, n.AdvertisePeer, n.AutoJoin})
	_, err = node("--peer=:7000", "--secret=x", "--advertise-peer=10.0.0.4:7000", "--auto-join")
	require.NoError(t, err)
	_, err = node("--peer=:7000", "--secret=x")
	require.ErrorContains(t, err, "advertise-peer: ")
	_, err = node("--peer=127.0.0.1:0")
	require.ErrorContains(t, err, "advertise-peer: is required with --join if --peer has no port: where the others reach this node")
	_, err = node("--join=h")
	require.ErrorContains(t, err, `join: "h" is not host:port`)
	_, err = node("--join=127.0.0.1:7000")
	require.ErrorContains(t, err, "join: 127.0.0.1:7000 is this node itself: give the peer address of a member")
}

func TestEachFault(t *testing.T) {
	for _, tc := range []struct{ command, flag, want string }{
		{"node", "--name=", "name: a name is required"},
		{"node", "--name=a b", `name: "a b" is not a name`},
		{"node", "--name=z", `initial-cluster: does not name this node, "z"`},
		{"node", "--cluster-name=", "cluster-name: "},
		{"node", "--peer=7000", `peer: "7000" is not host:port`},
		{"node", "--peer=127.0.0.1:99999", "has no port between 0 and 65535"},
		{"node", "--peer=127.0.0.1:65535", `gossip: "" is not host:port`},
		{"node", "--peer=0.0.0.0:7000", "peer: other machines can reach 0.0.0.0:7000 and no secret is set: give --secret-file (or --secret), or --insecure"},
		{"node", "--peer=a host:7000", "has no valid host"},
		{"node", "--gossip=:7001", "gossip: other machines can reach :7001"},
		{"node", "--gossip=x", "gossip: "},
		{"node", "--admin=node1.example:7100", "admin: other machines can reach"},
		{"node", "--admin=x", "admin: "},
		{"node", "--advertise-peer=0.0.0.0:7000", "advertise-peer: "},
		{"node", "--advertise-gossip=h:0", "names no port"},
		{"node", "--rack=a,b", "rack: "},
		{"node", "--weight=0", "weight: 0 is out of range"},
		{"node", "--engine=oak", `engine: "oak" is not an engine: use memory, badger or pebble`},
		{"node", "--engine=badger", "data: is required with --engine badger"},
		{"node", "--engine=pebble", "data: is required with --engine pebble"},
		{"node", "--data=/d", "data: is for --engine badger or pebble, the memory engine keeps nothing on disk: give --engine badger, or leave --data out"},
		{"node", "--fsync=interval=1s", "fsync: is for --engine badger"},
		{"node", "--cache=1gb", "cache: is for --engine badger"},
		{"node", "--fsync=never", `fsync: "never" is neither "always" nor "interval=DURATION" with a duration from 1ms to 10s, such as interval=100ms`},
		{"node", "--cache=half", `cache: "half" is not a size`},
		{"node", "--initial-cluster=", "initial-cluster: is required"},
		{"node", "--initial-cluster=a", "is not name=host:port"},
		{"node", "--initial-cluster=a=h:1,a=h:2", "repeats a name or an address"},
		{"node", "--initial-cluster=a=h:1,b=h:1", "repeats a name or an address"},
		{"node", "--initial-cluster=a=h:1,=h:2", "a name is required"},
		{"node", "--initial-cluster=a=:1", "names no host"},
		{"node", "--join=h:7000", "join: --initial-cluster is for nodes that form a cluster together, --join for one that comes to a cluster that is there: give one of the two"},
		{"node", "--auto-join", "auto-join: is for --join HOST:PORT: say which cluster to join"},
		{"node", "--replicas=4", "replicas: 4 replicas need as many nodes, but --initial-cluster names 3"},
		{"node", "--replicas=8", "replicas: 8 is out of range"},
		{"node", "--secret-file=/nonexistent", "secret-file: cannot be read: open /nonexistent"},
		{"node", "--secret-file=/dev/null", "secret-file: /dev/null is empty"},
		{"node", "--operation-timeout=0", "operation-timeout: "},
		{"node", "--operation-timeout=5", `operation-timeout: "5" is not a duration`},
		{"node", "--max-connections=0", "max-connections: "},
		{"node", "--max-pending=1", "max-pending: 1 is out of range: from 1MiB to 1TiB"},
		{"node", "--repair-rate=1", "repair-rate: 1 is out of range: from 64KiB to 1TiB"},
		{"node", "--max-pending=lots", `max-pending: "lots" is not a size`},
		{"node", "--log-format=xml", "log-format: "},
		{"node", "--log-level=loud", `log-level: "loud" is not debug`},
		{"node", "--insecure=maybe", `insecure: "maybe" is neither true nor false`},
		{"node", "--weight=many", `weight: "many" is not a whole number`},
		{"node", "--config=/nonexistent", "config: open /nonexistent"},

		{"proxy", "--listen=:6379", "listen: other machines can reach :6379 and no password is set: give --password-file (or --password)"},
		{"proxy", "--listen=6379", "listen: "},
		{"proxy", "--nodes=h:1,:2", "nodes: "},
		{"proxy", "--nodes=h:1\nh:2", "nodes: "},
		{"proxy", "--listen=h\x00:1", "has no valid host"},
		{"proxy", "--initial-cluster=x", "initial-cluster: "},
		{"proxy", "--admin=0.0.0.0:1", "admin: other machines"},
		{"proxy", "--max-clients=0", "max-clients: 0 is too small: at least 1"},
		{"proxy", "--max-bulk=1gb", "max-bulk: "},
		{"proxy", "--max-args=2", "max-args: "},
		{"proxy", "--max-inline=1", "max-inline: "},
		{"proxy", "--client-output-limit=1mb", "client-output-limit: 1MiB is out of range: from 64MiB to 1TiB"},
		{"proxy", "--idle-timeout=-1s", "idle-timeout: "},
		{"proxy", "--password-file=/nonexistent", "password-file: "},

		{"dev", "--nodes=0", "nodes: 0 is out of range"},
		{"dev", "--nodes=1", "replicas: 3 replicas need as many nodes, but there are 1: give --replicas 1 or more --nodes"},
		{"dev", "--replicas=0", "replicas: 0 is out of range"},
		{"dev", "--engine=badger", "data: is required with --engine badger"},
		{"dev", "--data=/d", "data: is for --engine badger"},
		{"dev", "--listen=[::]:6379", "listen: other machines"},
		{"dev", "--admin=:0", "admin: other machines"},
		{"dev", "--operation-timeout=2h", "operation-timeout: "},

		{"client", "--admin=localhost:0", "admin: "},
		{"client", "--admin=localhost", "admin: "},
		{"client", "--admin=gopher://h", "neither host:port nor an http or https URL"},
		{"client", "--admin=http://", "neither host:port nor an http or https URL"},
		{"servers", "--tls-ca-file=a", "tls-ca-file: is for TLS, which is not asked for: give --tls, too"},
		{"verified", "--tls-key-file=k", "tls-key-file: is for TLS, which is not asked for"},
	} {
		t.Run(tc.command+tc.flag, func(t *testing.T) {
			_, err := load(tc.command, tc.flag)
			require.ErrorAs(t, err, new(Faults))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	n := DefaultNode()
	require.EqualError(t, Load(&n, flagsOf(&n), []string{"QUOLL_WEIGHT=0"}), `name: a name is required
weight: 0 is out of range: from 1 to 1000
initial-cluster: is required: name=host:port of every node, e.g. a=10.0.0.1:7000,b=10.0.0.2:7000,c=10.0.0.3:7000; a node that comes to a running cluster gets --join instead`)
	p := DefaultProxy()
	require.EqualError(t, Load(&p, flagsOf(&p), nil),
		"nodes: is required: the peer address of one node or more, e.g. 10.0.0.1:7000,10.0.0.2:7000")
}

func TestFaultsInEnvironmentAndFileNameTheirPlace(t *testing.T) {
	path := writeFile(t, "lisen: x\nnodes: {a: b}\nmax-args: many\nmax-bulk:\nmax-clients: 5\nmax-clients: 6\nconfig: x\nhelp: true\nlisten: [a]\n")
	p := DefaultProxy()
	fs := flagsOf(&p)
	require.NoError(t, fs.Parse([]string{"--config", path, "--password-file", path}))
	err := Load(&p, fs, []string{"QUOLL_LISEN=x", "QUOLL_PASSWORD=a", "QUOLL_REQUIREPASS=b", "QUOLL_HELP=1", "QUOLL_IDLE_TIMEOUT=7"})
	require.EqualError(t, err, fmt.Sprintf(`QUOLL_HELP: no such environment variable is known to quoll; see --help for the settings
idle-timeout: "7" is not a duration such as 500ms, 1s or 2m (in QUOLL_IDLE_TIMEOUT)
QUOLL_LISEN: no such environment variable is known to quoll; did you mean QUOLL_LISTEN?
QUOLL_REQUIREPASS: QUOLL_PASSWORD sets the same: give one of the two
lisen: no such setting (%[1]s line 1); did you mean listen?
nodes: is a mapping, but takes one value (%[1]s line 2)
max-args: "many" is not a whole number (%[1]s line 3)
max-bulk: has no value (%[1]s line 4)
max-clients: given twice in %[1]s, lines 5 and 6
config: no such setting (%[1]s line 7); see --help for the settings
help: no such setting (%[1]s line 8); see --help for the settings
listen: is a list, but takes one value (%[1]s line 9)
password-file: password is given too: give one of the two`, path))
}

func TestFilesThatAreNotMappings(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"# nothing\n":                "",
		"---\n":                      "",
		"- a\n":                      "is not a mapping",
		"a: [":                       "is not valid YAML",
		"nodes: 3\n---\nnodes: 4\n":  "more than one YAML document",
		"&a nodes: &b 4\n":           "",
		"nodes: &b 4\nreplicas: *b ": "",
		"nodes: [[]]\n":              "is a list, but takes one value",
		"?":                          "is no name",
		"\"\\n\": 3\n":               `"\n": no such setting`,
		"? [a]\n: 3\n":               "is no name",
		"a: &nodes 4\n*nodes : 4\n":  "is no name",
	} {
		d := DefaultDev()
		fs := flagsOf(&d)
		require.NoError(t, fs.Parse([]string{"--config", writeFile(t, text)}))
		if err := Load(&d, fs, nil); want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
	require.ErrorContains(t, func() error {
		d := DefaultDev()
		fs := flagsOf(&d)
		require.NoError(t, fs.Parse([]string{"--config", filepath.Join(t.TempDir(), "none")}))
		return Load(&d, fs, nil)
	}(), "config: open ")
}

// TestNoEntryOfAListIsLost: a list that goes over several lines is taken as a whole or
// refused.
func TestNoEntryOfAListIsLost(t *testing.T) {
	for text, want := range map[string][]string{
		"nodes: [h:1, h:2]\n":          {"h:1", "h:2"},
		"nodes: h:1, h:2\n":            {"h:1", "h:2"},
		"nodes: |\n  h:1,\n  h:2\n":    {"h:1", "h:2"},
		"nodes: |\n  h:1\n  h:2\n":     nil,
		"nodes: ['h:1\n\n  h:2']\n":    nil,
		"nodes: ['h:1', \"h:2\\n\"]\n": {"h:1", "h:2"},
	} {
		p := DefaultProxy()
		fs := flagsOf(&p)
		require.NoError(t, fs.Parse([]string{"--config", writeFile(t, text)}))
		if err := Load(&p, fs, nil); want == nil {
			require.ErrorContains(t, err, "nodes: ", text)
		} else {
			require.NoError(t, err, text)
			require.Equal(t, want, p.Nodes, text)
		}
	}
	p := DefaultProxy()
	require.NoError(t, flagsOf(&p).Parse([]string{"--nodes=h:1", "--nodes=h:2,h:3"}))
	require.Equal(t, []string{"h:1", "h:2", "h:3"}, p.Nodes)
}

func TestProtectedModeIsSatisfied(t *testing.T) {
	for _, args := range [][]string{
		{"proxy", "--listen=:6379", "--password=x"},
		{"proxy", "--listen=:6379", "--insecure"},
		{"proxy", "--listen=localhost:6379"},
		{"proxy", "--listen=[::1]:6379"},
		{"proxy", "--admin=:7100", "--secret=x"},
		{"node", "--peer=:7000", "--secret=x"},
		{"node", "--admin=:7100", "--insecure"},
	} {
		_, err := load(args[0], args[1:]...)
		require.NoError(t, err, args)
	}
}

func TestNodeAddressesAreCompleted(t *testing.T) {
	for _, tc := range []struct{ args, want []string }{
		{nil, []string{"h:7000", "127.0.0.1:7001", "127.0.0.1:7001"}},
		{[]string{"--insecure", "--peer=:9000"}, []string{"h:7000", ":9001", "h:9001"}},
		{[]string{"--peer=127.0.0.1:0"}, []string{"h:7000", "127.0.0.1:0", ""}},
		{[]string{"--advertise-peer=p:1", "--gossip=[::]:2", "--insecure"}, []string{"p:1", "[::]:2", "p:2"}},
		{[]string{"--advertise-gossip=g:3"}, []string{"h:7000", "127.0.0.1:7001", "g:3"}},
	} {
		cfg, err := load("node", tc.args...)
		require.NoError(t, err, tc.args)
		n := cfg.(*Node)
		require.Equal(t, tc.want, []string{n.AdvertisePeer, n.Gossip, n.AdvertiseGossip}, tc.args)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "65536": 64 * KiB, "64mb": 64 * MiB, "64MiB": 64 * MiB, "64 MB": 64 * MiB, "1k": 1000, "2g": 2e9, "7b": 7, "1tib": TiB,
	} {
		var s Size
		require.NoError(t, s.Set(text), text)
		require.Equal(t, want, s, text)
	}
	for _, text := range []string{"", "-1", "1.5mb", "mb", "1 kk", "9223372036854775807kb", "18446744073709551616", "0x10"} {
		require.Error(t, new(Size).Set(text), text)
	}
	rapid.Check(t, func(t *rapid.T) {
		s, back := Size(rapid.Int64Range(0, math.MaxInt64).Draw(t, "size")), Size(0)
		require.NoError(t, back.Set(s.String()))
		require.Equal(t, s, back)
	})
}

func TestSecretHidesFromEveryVerb(t *testing.T) {
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		require.NotContains(t, fmt.Sprintf(verb, struct{ S Secret }{"hush"}), "hush")
	}
	text, err := Secret("hush").MarshalText()
	require.NoError(t, err)
	require.Equal(t, "(set)", string(text))
	require.Empty(t, Secret("").String())
	require.Equal(t, slog.KindGroup, DefaultNode().LogValue().Kind())
}

// TestTLS: what is given is complete, and what is left out is taken from the directory of certificates.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ca.crt", "node.a.crt", "proxy.p1.crt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	cfg, err := load("node", "--certs-dir="+dir)
	require.NoError(t, err)
	node := cfg.(*Node)
	require.Equal(t, []string{PeerTLSRequired, dir + "/node.a.crt", dir + "/node.a.key", dir + "/ca.crt"}, []string{node.PeerTLS, node.PeerTLSCertFile, node.PeerTLSKeyFile, node.PeerTLSCaFile})
	cfg, err = load("proxy", "--certs-dir="+dir, "--tls-listen=:6380", "--tls-client-auth=required", "--listen=none", "--peer-tls=optional")
	require.NoError(t, err)
	proxy := cfg.(*Proxy)
	require.Equal(t, []string{PeerTLSOptional, dir + "/proxy.p1.crt", dir + "/proxy.p1.key", dir + "/ca.crt"}, []string{proxy.PeerTLS, proxy.TLSCertFile, proxy.TLSKeyFile, proxy.TLSCaFile})
	cfg, err = load("proxy")
	require.NoError(t, err)
	require.Equal(t, PeerTLSOff, cfg.(*Proxy).PeerTLS)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "proxy.p2.crt"), nil, 0o600))
	files := []string{"--tls-cert-file=c", "--tls-key-file=k"}
	for says, args := range map[string][]string{
		"certs-dir: " + dir + " has not one certificate proxy.NAME.crt": {"--certs-dir=" + dir},
		"peer-tls: required needs --peer-tls-cert-file, too":            {"--peer-tls=required"},
		`peer-tls: "on" is none of off, optional, required`:             {"--peer-tls=on"},
		"tls-cert-file: and --tls-key-file belong together":             {"--tls-cert-file=c"},
		"tls-listen: :6380 needs --tls-cert-file, too":                  {"--tls-listen=:6380"},
		"tls-listen: other machines can reach :6380":                    append([]string{"--tls-listen=:6380", "--tls-client-auth=optional", "--tls-ca-file=a"}, files...),
		"tls-client-auth: required needs --tls-ca-file, too":            append([]string{"--tls-listen=127.0.0.1:6380", "--tls-client-auth=required"}, files...),
		`tls-min-version: "1.1" is none of 1.2, 1.3`:                    {"--tls-min-version=1.1"},
		"listen: is none, and there is no --tls-listen":                 {"--listen=none"},
		"admin-tls: true needs --tls-cert-file, too":                    {"--admin-tls"},
		`tls-auth-clients-user: "yes" is none of off, CN`:               {"--tls-auth-clients-user=yes"},
		"tls-auth-clients-user: CN is for clients that show":            append([]string{"--tls-auth-clients-user=CN", "--tls-listen=127.0.0.1:6380"}, files...),
	} {
		_, err := load("proxy", args...)
		require.ErrorContains(t, err, says)
	}
	for _, open := range [][]string{{"--password=x"}, {"--insecure"}} {
		_, err := load("proxy", slices.Concat(open, []string{"--tls-listen=:6380"}, files)...)
		require.NoError(t, err)
	}
}

// TestTLSOfBothEnds: each end of a copy has files of its own, and the one that is a URL speaks TLS if that says so.
func TestTLSOfBothEnds(t *testing.T) {
	for args, says := range map[[2]string]string{
		{"--from=redis://h:1", "--from-tls-ca-file=a"}:    "from-tls-ca-file: is for TLS, which is not asked for: give a URL that begins with rediss://, too",
		{"--from=rediss://h:1", "--from-tls-cert-file=c"}: "from-tls-cert-file: and --from-tls-key-file belong together",
		{"--from=rediss://h:1", "--tls-ca-file=a"}:        "tls-ca-file: is for TLS, which is not asked for: give --tls, too",
		{"--tls", "--tls-key-file=k"}:                     "tls-cert-file: and --tls-key-file belong together",
		{"--from=rediss://h:1", "--from-tls-ca-file=a"}:   "",
		{"--tls", "--tls-ca-file=a"}:                      "",
	} {
		c := DefaultCopied("from")
		fs := flagsOf(&c)
		require.NoError(t, fs.Parse(args[:]))
		err := Load(&c, fs, nil)
		require.Equal(t, c.URL == "rediss://h:1", c.URLTLS.TLS)
		if says == "" {
			require.NoError(t, err, args)
			continue
		}
		require.ErrorContains(t, err, says)
	}
}
