package deploy

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/quolldb/quoll/internal/certs"
	"github.com/quolldb/quoll/internal/config"
)

// composeFiles are the clusters, the one that others are compared with first.
var composeFiles = []string{"compose.yaml", "compose.five.yaml", "compose.memory.yaml"}

// composeFile is what the tests look at of a compose file, with its anchors resolved.
type composeFile struct {
	Services map[string]service
	Volumes  map[string]any
}

type service struct {
	Image       string
	Command     []string
	Environment map[string]string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Ports       []string
	Volumes     []string
	Profiles    []string
	// What remains is the same for nodes and proxies everywhere.
	Common map[string]any `yaml:",inline"`
}

// quoll reports whether the service runs quoll.
func (s service) quoll() bool { return strings.HasPrefix(s.Image, "${QUOLL_IMAGE") }

func (s service) isNode() bool { return s.quoll() && s.Command[0] == "node" }

func readCompose(t *testing.T, name string) composeFile {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var file composeFile
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.NotEmpty(t, file.Services)
	return file
}

// services calls check with every service of every file that runs quoll.
func services(t *testing.T, check func(t *testing.T, file composeFile, name string, s service)) {
	for _, name := range composeFiles {
		file := readCompose(t, name)
		for _, service := range slices.Sorted(maps.Keys(file.Services)) {
			if s := file.Services[service]; s.quoll() {
				t.Run(name+"/"+service, func(t *testing.T) { check(t, file, service, s) })
			}
		}
	}
}

func TestDockerComposeAcceptsTheFiles(t *testing.T) {
	var accepts [][]string
	if _, err := exec.LookPath("docker-compose"); err == nil {
		accepts = append(accepts, []string{"docker-compose"})
	}
	if exec.Command("docker", "compose", "version").Run() == nil {
		accepts = append(accepts, []string{"docker", "compose"})
	}
	if len(accepts) == 0 {
		t.Skip("neither docker-compose nor docker compose is installed")
	}
	for _, compose := range accepts {
		for _, name := range append(slices.Clone(composeFiles), "compose.yaml -f compose.tls.yaml") {
			arguments := slices.Concat(compose[1:], []string{"-f"}, strings.Fields(name), []string{"--profile", "monitoring", "config", "-q"})
			out, err := exec.Command(compose[0], arguments...).CombinedOutput()
			require.NoError(t, err, "%s: %s", name, out)
			require.Empty(t, string(out), name)
		}
	}
}

// TestSettingsAreValid loads each service's settings as quoll does.
func TestSettingsAreValid(t *testing.T) {
	services(t, func(t *testing.T, file composeFile, name string, s service) {
		require.Equal(t, "/run/secrets/quoll", s.Environment["QUOLL_SECRET_FILE"])
		require.Equal(t, "/run/secrets/tokens", s.Environment["QUOLL_ADMIN_TOKENS_FILE"])
		node, proxy := config.DefaultNode(), config.DefaultProxy()
		cfg := map[string]config.Config{"node": &node, "proxy": &proxy}[s.Command[0]]
		require.NotNil(t, cfg, "quoll %s", s.Command[0])
		s.load(t, cfg)
		if s.isNode() {
			require.Equal(t, name, node.Name)
			require.NotEmpty(t, node.Rack)
			require.Equal(t, node.Engine == config.Badger, len(s.Volumes) == 1, "a volume for what is kept on disk")
		}
	})
}

func TestEveryNodeIsInTheInitialClusterAndHasItsVolume(t *testing.T) {
	services(t, func(t *testing.T, file composeFile, name string, s service) {
		var members []string
		volumes := map[string]string{}
		for other, s := range file.Services {
			if s.isNode() {
				if len(s.Profiles) == 0 {
					members = append(members, other+"="+other+":7000")
				}
				for _, mount := range s.Volumes {
					volume, _, _ := strings.Cut(mount, ":")
					require.Empty(t, volumes[volume], "%s belongs to one node", volume)
					require.Contains(t, file.Volumes, volume)
					volumes[volume] = other
				}
			}
		}
		slices.Sort(members)
		if len(s.Profiles) > 0 { // it joins later
			require.Equal(t, []string{"", name + ":7000"}, []string{s.Environment["QUOLL_INITIAL_CLUSTER"], s.Environment["QUOLL_ADVERTISE_PEER"]})
			for _, address := range strings.Split(s.Environment["QUOLL_JOIN"], ",") {
				require.Contains(t, strings.Join(members, ","), "="+address)
			}
			return
		}
		require.Equal(t, strings.Join(members, ","), s.Environment["QUOLL_INITIAL_CLUSTER"])
	})
}

// TestStartOrder: a node becomes ready when the others are there, so none may wait for another.
func TestStartOrder(t *testing.T) {
	services(t, func(t *testing.T, file composeFile, _ string, s service) {
		if s.isNode() {
			require.Empty(t, s.DependsOn)
			return
		}
		for name, other := range file.Services {
			if other.isNode() && len(other.Profiles) == 0 {
				require.Equal(t, "service_healthy", s.DependsOn[name].Condition, name)
			}
		}
	})
}

// TestPortsAreOnThisMachineOnly: clients need no password in these clusters.
func TestPortsAreOnThisMachineOnly(t *testing.T) {
	for _, name := range composeFiles {
		published := 0
		for _, s := range readCompose(t, name).Services {
			for _, port := range s.Ports {
				require.Regexp(t, `^127\.0\.0\.1:(\$|:7100$)`, port, name)
				published++
			}
			require.NotContains(t, s.Common, "network_mode")
			if s.isNode() { // the admin API only, which wants the secret, at a port that is free
				require.Equal(t, []string{"127.0.0.1::7100"}, s.Ports)
			}
		}
		require.GreaterOrEqual(t, published, 2)
	}
}

// TestSameSettingsInAllFiles: the files repeat what cannot be shared between files. They differ in nodes, engine and volumes.
func TestSameSettingsInAllFiles(t *testing.T) {
	first := readCompose(t, composeFiles[0]).Services
	require.NotEmpty(t, first["a"].Common["healthcheck"])
	require.NotEmpty(t, first["a"].Common["restart"])
	services(t, func(t *testing.T, _ composeFile, name string, s service) {
		like := first["a"]
		if !s.isNode() {
			like = first[name]
			require.Equal(t, like.Command, s.Command)
			require.Equal(t, like.Ports, s.Ports)
		}
		require.Equal(t, like.Image, s.Image)
		require.Equal(t, like.Common, s.Common)
	})
}

// TestTLSOfAllServices: each process of compose.yaml has certificates of its own, and with them its settings are valid; proxies serve nobody without TLS.
func TestTLSOfAllServices(t *testing.T) {
	plain, secured := readCompose(t, "compose.yaml").Services, readCompose(t, "compose.tls.yaml").Services
	dir := t.TempDir()
	ca, err := certs.NewAuthority(dir, "quoll", time.Hour)
	require.NoError(t, err)
	for name, s := range plain {
		if !s.quoll() {
			require.NotContains(t, secured, name)
			continue
		}
		tls := secured[name]
		require.Equal(t, []string{"./secrets/certs/" + name + ":/etc/quoll/certs:ro"}, tls.Volumes)
		require.Equal(t, map[string]string{"QUOLL_CERTS_DIR": "/etc/quoll/certs"}, tls.Environment)
		own := filepath.Join(dir, name)
		_, _, err := ca.Issue(certs.Request{Role: certs.Role(s.Command[0]), Name: name, Valid: time.Hour, Dir: own})
		require.NoError(t, err)
		require.NoError(t, os.Link(filepath.Join(dir, certs.CAFile), filepath.Join(own, certs.CAFile)))
		node, proxy := config.DefaultNode(), config.DefaultProxy()
		if s.isNode() {
			s.load(t, &node, "QUOLL_CERTS_DIR="+own)
			require.Equal(t, "required", node.PeerTLS)
			continue
		}
		s.Command = tls.Command
		s.load(t, &proxy, "QUOLL_CERTS_DIR="+own)
		require.Equal(t, []string{"none", ":6379", "required", "required"}, []string{proxy.Listen, proxy.TLSListen, proxy.TLSClientAuth, proxy.PeerTLS})
	}
}

// load loads the settings of a service as quoll does, with a secret that is there, and more variables.
func (s service) load(t *testing.T, cfg config.Config, more ...string) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("s"), 0o600))
	environ := append(more, "QUOLL_SECRET_FILE="+secret)
	for key, value := range s.Environment {
		if key != "QUOLL_SECRET_FILE" {
			environ = append(environ, key+"="+value)
		}
	}
	fs := pflag.NewFlagSet("quoll", pflag.ContinueOnError)
	cfg.Bind(fs)
	require.NoError(t, fs.Parse(s.Command[1:]))
	require.NoError(t, config.Load(cfg, fs, environ))
}
