package config

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/quolldb/quoll/ring"
)

// FuzzLoad: flags, environment and file, whatever they hold, are refused with the names
// of what is wrong, one line each, or make a configuration that is valid, and the same
// when it is written down as any of the three and read again.
func FuzzLoad(f *testing.F) {
	names := []string{"node", "proxy", "dev", "client", "servers"}
	const cluster = "--initial-cluster=a=h:1,b=h:2,c=h:3"
	for _, seed := range [][3]string{
		{"--name=a\n" + cluster, "", ""},
		{"", "QUOLL_NODES=h:1, h:2\nQUOLL_REQUIREPASS=x", "max-bulk: 64 MB\nidle-timeout: 1m\nlisten: '[::1]:0'\n"},
		{"--name=a", "", "initial-cluster:\n  a: h:1\n  b: h:2\n  c: h:3\npeer: :7000\nsecret: x\n"},
		{"", "", "nodes: |\n  h:1\n  h:2\n"},
		{"", "", "nodes: [h:1, h:2]\nlog-level: info+3\n"},
		{"", "", "nodes: &n [h:1]\ninitial-cluster: *n\n*n : 3\n? [a]\n: b\n<<: {}\n"},
		{"--operation-timeout=1h", "QUOLL_=x\nQUOLL_PORT=tcp://h:1", "---\n...\n%YAML 1.1\n"},
		{"--engine=badger\n--data=/d\n--name=a\n" + cluster, "QUOLL_FSYNC=interval=1s", "cache: 1gb\n"}, {"--data=\xff\n--engine=badger", "", ""},
		{"--admin=http://h:1/", "", ""}, {"--admin=://", "", ""}, {"--admin=gopher://h", "", ""},
		{"--max-pending=9223372036854775807kb", "", "a: &a [*a]\n"},
		{"--peer=h\x00:1\n--gossip=h\u00a0:1", "", "\xff\xfe"}, {"", "", "?"}, {"", "QUOLL_\x01=x", "\"\\n\": 3"},
	} {
		for command := range names {
			f.Add(byte(command), seed[0], seed[1], seed[2])
		}
	}
	f.Fuzz(func(t *testing.T, command byte, args, environ, file string) {
		all := strings.ToLower(args + environ + file)
		if strings.Contains(all, "file") || strings.Contains(all, "config") {
			return // not those of this machine
		}
		fresh := commands[names[int(command)%len(names)]]
		cfg := fresh()
		fs := flagsOf(cfg)
		err := FlagFault(fs, fs.Parse(strings.Split(args, "\n")))
		if err == nil {
			if fs.Lookup(fileFlag) != nil {
				require.NoError(t, fs.Set(fileFlag, writeFile(t, file)))
			}
			err = Load(cfg, fs, strings.Split(environ, "\n"))
		} else if !errors.As(err, new(Faults)) {
			return // no such flag, and the like
		}
		var faults Faults
		if errors.As(err, &faults) {
			for _, fault := range faults {
				require.NotEmpty(t, fault.Field)
				require.NotEmpty(t, fault.Reason)
				require.False(t, strings.ContainsFunc(fault.String(), unicode.IsControl), "%q", fault)
			}
			return
		}
		require.NoError(t, err)
		require.NoError(t, cfg.Validate())
		requireReadAgain(t, cfg, fresh)
	})
}

// requireReadAgain writes a configuration down in each way, and reads it.
func requireReadAgain(t *testing.T, cfg Config, fresh func() Config) {
	written, defaults, none := map[string]string{}, flagsOf(fresh()), false
	var args, environ []string
	flagsOf(cfg).VisitAll(func(flag *pflag.Flag) {
		value := flag.Value.String()
		if secret, is := flag.Value.(secretValue); is {
			value = secret.secret.Reveal()
		}
		if flag.Name == fileFlag || value == "" && defaults.Lookup(flag.Name).DefValue == "" {
			return
		}
		written[flag.Name] = value
		args = append(args, "--"+flag.Name+"="+value)
		environ = append(environ, variableOf(flag)+"="+value)
		none = none || value == ""
	})
	text, err := yaml.Marshal(written)
	require.NoError(t, err)

	byFlags, byEnvironment, byFile := fresh(), fresh(), fresh()
	fs := flagsOf(byFlags)
	require.NoError(t, fs.Parse(args))
	require.NoError(t, Load(byFlags, fs, nil))
	require.Equal(t, cfg, byFlags)
	if !none { // an empty variable is one that is not set
		require.NoError(t, Load(byEnvironment, flagsOf(byEnvironment), environ))
		require.Equal(t, cfg, byEnvironment)
	}
	if fs = flagsOf(byFile); fs.Lookup(fileFlag) != nil {
		require.NoError(t, fs.Set(fileFlag, writeFile(t, string(text))))
		require.NoError(t, Load(byFile, fs, nil), "%s", text)
		require.Equal(t, cfg, byFile)
	}
}

// FuzzInitialCluster: what is accepted here is what package ring accepts later, and it
// means the same.
func FuzzInitialCluster(f *testing.F) {
	for _, seed := range []string{"a=h:1,b=[::1]:2", " a=h:1 , b=h:2", "a=h\x00:1", "a=h\u2003:1", "a=\xff:1", "a=h:1,a=h:2", "a=0.0.0.0:1", "a=h:01"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		members, err := parseCluster(text)
		if err != nil {
			return
		}
		initial, err := ring.ParseInitial(text)
		require.NoError(t, err)
		require.Len(t, initial, len(members))
		for _, m := range initial {
			require.Equal(t, m.Peer, addressOf(members, m.Name))
		}
	})
}

// FuzzSize: a size that is understood is printed so that it is understood in the same way.
func FuzzSize(f *testing.F) {
	for _, seed := range []string{"0", "64mb", "1 GiB", "9223372036854775807", "8388608tb", "8388607tib", "-1", "1.5mb", "0x10", "1_000", "kb", "1e3", "64\u212ab"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var size, same Size
		if size.Set(text) != nil {
			return
		}
		require.GreaterOrEqual(t, size, Size(0))
		require.NoError(t, same.Set(size.String()))
		require.Equal(t, size, same)
	})
}
