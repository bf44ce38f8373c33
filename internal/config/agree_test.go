package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// commands makes a fresh configuration of every command.
var commands = map[string]func() Config{
	"node":     func() Config { c := DefaultNode(); return &c },
	"proxy":    func() Config { c := DefaultProxy(); return &c },
	"dev":      func() Config { c := DefaultDev(); return &c },
	"client":   func() Config { c := DefaultClient(); return &c },
	"servers":  func() Config { c := DefaultServers(); return &c },
	"verified": func() Config { c := DefaultVerified(); return &c },
}

func flagsOf(cfg Config) *pflag.FlagSet {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Bind(fs)
	return fs
}

// sample returns a value other than the default for a flag of any type.
func sample(t *testing.T, flag *pflag.Flag) string {
	switch kind := flag.Value.Type(); kind {
	case "string", "text":
		return "x.example:7777"
	case "cluster":
		return "a=x.example:7777,b=y.example:8888"
	case listType:
		return "x.example:7777,y.example:8888"
	case "int":
		return "12"
	case "bool":
		return strconv.FormatBool(flag.DefValue != "true")
	case "duration":
		return "1m5s"
	case "size":
		return "3mb"
	case "fsync":
		return "interval=250ms"
	case "level":
		return "debug"
	default:
		t.Fatalf("no sample for flags of type %s", kind)
		return ""
	}
}

func writeFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "quoll.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestEveryFieldAgreesInFlagsEnvironmentAndFile(t *testing.T) {
	for command, fresh := range commands {
		flagsOf(fresh()).VisitAll(func(flag *pflag.Flag) {
			if flag.Name == fileFlag {
				return
			}
			t.Run(command+"/"+flag.Name, func(t *testing.T) {
				value := sample(t, flag)

				byFlag := fresh()
				require.NoError(t, flagsOf(byFlag).Parse([]string{"--" + flag.Name + "=" + value}))
				require.Equal(t, 1, changes(fresh(), byFlag), "the flag sets exactly one field")

				var faults Faults
				byEnv := fresh()
				applyEnvironment(flagsOf(byEnv), []string{variableOf(flag) + "=" + value}, &faults)
				require.Empty(t, faults)
				require.Equal(t, byFlag, byEnv)

				byFile := fresh()
				applyFile(flagsOf(byFile), writeFile(t, flag.Name+": "+value+"\n"), &faults)
				require.Empty(t, faults)
				require.Equal(t, byFlag, byFile)
			})
		})
	}
}

// Every exported field has a flag of its own: CamelCase of the field is the name of
// the flag.
func TestEveryFieldHasAFlag(t *testing.T) {
	for command, fresh := range commands {
		fs := flagsOf(fresh())
		for _, field := range reflect.VisibleFields(reflect.TypeOf(fresh()).Elem()) {
			if field.Anonymous { // what two share
				continue
			}
			var name strings.Builder
			for i, r := range field.Name {
				if i > 0 && isUpper(r) && (!isUpper(rune(field.Name[i-1])) || i+1 < len(field.Name) && !isUpper(rune(field.Name[i+1]))) {
					name.WriteByte('-')
				}
				name.WriteRune(r)
			}
			require.NotNil(t, fs.Lookup(strings.ToLower(name.String())), "%s: %s", command, field.Name)
		}
	}
}

func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }

func changes(before, after Config) int {
	n, a, b := 0, reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for i := range a.NumField() {
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			n++
		}
	}
	return n
}

func TestFlagBeatsEnvironmentBeatsFileBeatsDefault(t *testing.T) {
	path := writeFile(t, "max-clients: 1\nmax-args: 11\nmax-inline: 11kb\nnodes: [n:1, n:2]\n")
	p := DefaultProxy()
	fs := flagsOf(&p)
	require.NoError(t, fs.Parse([]string{"--max-clients", "3", "--config", path}))
	require.NoError(t, Load(&p, fs, []string{"QUOLL_MAX_CLIENTS=2", "QUOLL_MAX_ARGS=12", "QUOLL_PASSWORD=", "HOME=/"}))
	require.Equal(t, 3, p.MaxClients)
	require.Equal(t, 12, p.MaxArgs)
	require.Equal(t, 11*KiB, p.MaxInline)
	require.Equal(t, []string{"n:1", "n:2"}, p.Nodes)
	require.Equal(t, 64*MiB, p.MaxBulk)
}

func TestFileShapesAndAliases(t *testing.T) {
	for name, text := range map[string]string{
		"mapping": "initial-cluster:\n  a: h:1\n  b: h:2\n",
		"list":    "initial-cluster: [a=h:1, b=h:2]\n",
		"text":    "x-anchor: &c 1\n",
	} {
		p := DefaultProxy()
		fs := flagsOf(&p)
		require.NoError(t, fs.Parse([]string{"--config", writeFile(t, text)}))
		err := Load(&p, fs, []string{"QUOLL_REQUIREPASS=hush"})
		if name == "text" {
			require.ErrorContains(t, err, "x-anchor: no such setting")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "a=h:1,b=h:2", p.InitialCluster)
		require.Equal(t, []string{"h:1", "h:2"}, p.Nodes, "taken from the initial cluster")
		require.Equal(t, "hush", p.Password.Reveal())
	}
}

func TestServiceVariablesOfKubernetesAreNotOurs(t *testing.T) {
	d := DefaultDev()
	require.NoError(t, Load(&d, flagsOf(&d), []string{
		"QUOLL_PORT=tcp://10.0.0.9:6379", "QUOLL_SERVICE_HOST=10.0.0.9", "QUOLL_SERVICE_PORT_REDIS=6379",
		"QUOLL_NODE_PORT_6379_TCP_ADDR=10.0.0.9", "QUOLL_NODE_SERVICE_PORT=6379",
		"QUOLL_MAX_BULK=1mb",                                                                    // the proxy's
		"QUOLL_PORT=7777", "QUOLL_PORT2=7778", "QUOLL_IMAGE=quoll:built", "QUOLL_PROJECT=other", // deploy/compose.sh's
	}))
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	const hush = "hush-hush"
	path := writeFile(t, hush+"\n")
	for command, fresh := range commands {
		cfg := fresh()
		fs := flagsOf(cfg)
		var args []string
		if fs.Lookup("secret") != nil {
			args = append(args, "--secret-file", path)
		}
		switch {
		case fs.Lookup("requirepass") != nil:
			args = append(args, "--requirepass", hush)
		case fs.Lookup("password") != nil:
			args = append(args, "--password", hush)
		}
		require.NoError(t, fs.Parse(args), command)
		_ = Load(cfg, fs, nil)
		given := 0
		for _, field := range []string{"Secret", "Password"} {
			if value := reflect.ValueOf(cfg).Elem().FieldByName(field); value.IsValid() {
				require.Contains(t, value.String(), hush)
				given++
			}
		}
		require.NotZero(t, given)

		var out strings.Builder
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			log := slog.New(handler)
			log.Info("start", "config", cfg)
			log.Info("start", "config", struct{ C Config }{cfg})
		}
		require.Contains(t, out.String(), "(set)")
		require.NotContains(t, out.String(), hush)
		require.NotContains(t, fs.FlagUsages(), hush)
	}
}
