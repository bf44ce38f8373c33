//go:build linux

package compose

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/stretchr/testify/require"
)

// Config says what differs from deploy/compose.yaml. The zero value differs in nothing that matters to
// clients.
type Config struct {
	// Fsync is the nodes' --fsync, if it is not empty.
	Fsync string
	// Disk gives each node a file system of this many bytes in memory, which FillDisk fills. 0: a
	// volume on the machine's disk.
	Disk int64
	// Memory is how many bytes each container may use. 0: no limit.
	Memory int64
}

// Service is a container with its node or proxy. Its methods are called by the test's goroutine.
type Service struct {
	// Name is that of the service, and of a node: a, b, c, proxy1, proxy2.
	Name string
	// Node tells nodes from proxies.
	Node bool
	// Data is its address among its peers, Control the one at which this machine reaches it,
	// whatever happens to the network data.
	Data, Control string

	cluster *Cluster
	traffic traffic
	orders  orders
}

// Client is where a proxy serves Redis clients.
func (s *Service) Client() string { return s.Control + ":6379" }

// Admin is where the admin API is.
func (s *Service) Admin() string { return s.Control + ":7100" }

// Cluster is deploy/compose.yaml as containers of a test.
type Cluster struct {
	Nodes, Proxies []*Service
	// Artefacts is a folder for whatever is to be kept of the run. It belongs to the test of that
	// name, and was empty when the cluster came up.
	Artefacts string

	t       testing.TB
	project string
	files   []string // -f of docker-compose
	env     []string
	// containers are the ids, by the name of the service.
	containers map[string]string
}

// secret is that of all clusters: it keeps nobody out but mistakes.
const secret = "sesame"

// token is the one with which Prometheus would read.
const token = "open-sesame-a-little"

//go:embed override.yaml.tmpl
var overrideText string

var override = template.Must(template.New("override").Parse(overrideText))

// Up starts a cluster, waits until every process is ready, and takes it down when the test ends, having written
// all logs to Artefacts. What an earlier run could not clean up is removed first. A process that ends with a panic or
// reports a bug fails the test.
func Up(t testing.TB, cfg Config) *Cluster {
	t.Helper()
	require.NoError(t, Check())
	if err := sweep(); err != nil {
		t.Logf("what an earlier run left is still there: %v", err)
	}
	name, err := image()
	require.NoError(t, err)
	root, err := moduleRoot()
	require.NoError(t, err)
	c := &Cluster{t: t, Artefacts: newFolder(t, root)}
	written, err := c.configure(cfg, t.TempDir())
	require.NoError(t, err)
	c.files = []string{filepath.Join(root, "deploy", "compose.yaml"), written}
	// Whatever the compose file publishes gets a port that is free: tests do not use it.
	c.env = []string{"QUOLL_IMAGE=" + name, "QUOLL_PORT=0", "QUOLL_PORT2=0"}
	c.project = newProject()
	t.Cleanup(c.down)
	began := time.Now()
	_, err = c.compose("up", "-d")
	require.NoError(t, err)
	require.NoError(t, c.find())
	c.AwaitHealthy()
	t.Logf("cluster %s is up after %v; what is kept of this run: %s", c.project, time.Since(began).Round(100*time.Millisecond), c.Artefacts)
	return c
}

// configure chooses addresses, and writes the second compose file and the secret into a folder.
func (c *Cluster) configure(cfg Config, dir string) (path string, err error) {
	subnets, err := freeSubnets(2)
	if err != nil {
		return "", err
	}
	for i, name := range []string{"a", "b", "c", "proxy1", "proxy2"} {
		number := byte(11 + i)
		s := &Service{Name: name, Node: len(name) == 1, Data: host(subnets[0], number), Control: host(subnets[1], number), cluster: c}
		if s.Node {
			c.Nodes = append(c.Nodes, s)
		} else {
			c.Proxies = append(c.Proxies, s)
		}
	}
	secretFile, tokensFile := filepath.Join(dir, "secret"), filepath.Join(dir, "tokens")
	for file, text := range map[string]string{secretFile: secret, tokensFile: "prometheus read " + token + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	path = filepath.Join(dir, "override.yaml")
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return path, override.Execute(file, map[string]any{
		"Services": c.Services(), "Fsync": cfg.Fsync, "Disk": cfg.Disk, "Memory": cfg.Memory,
		"DataNet": subnets[0], "ControlNet": subnets[1], "SecretFile": secretFile, "TokensFile": tokensFile,
	})
}

// Services returns the nodes and the proxies.
func (c *Cluster) Services() []*Service {
	return append(append([]*Service{}, c.Nodes...), c.Proxies...)
}

// compose runs docker-compose for this cluster.
func (c *Cluster) compose(args ...string) (string, error) {
	line := append(composeCommand(), "-p", c.project)
	for _, file := range c.files {
		line = append(line, "-f", file)
	}
	line = append(line, args...)
	return runIn(untilInterrupted, c.env, "", line[0], line[1:]...)
}

// container is the id of the service's container.
func (s *Service) container() string { return s.cluster.containers[s.Name] }

// find notes which containers the services have.
func (c *Cluster) find() error {
	list, err := docker("ps", "-a", "--filter", "label="+projectLabel+"="+c.project, "--format", `{{.Label "com.docker.compose.service"}} {{.ID}}`)
	c.containers = map[string]string{}
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) == 2 {
			c.containers[fields[0]] = fields[1]
		}
	}
	return err
}

// must ends the test if Docker refused something.
func (c *Cluster) must(err error) {
	c.t.Helper()
	require.NoError(c.t, err)
}

// down writes the logs, takes the cluster down and judges the logs.
func (c *Cluster) down() {
	if err := c.find(); err != nil { // again, should it never have come up
		c.t.Error(err)
	}
	for _, s := range c.Services() {
		if s.container() == "" {
			continue
		}
		text, err := s.saveLog()
		if err != nil {
			c.t.Logf("the log of %s is not kept: %v", s.Name, err)
		}
		for _, bad := range []string{"panic: ", "fatal error: ", "a bug in quoll"} {
			if strings.Contains(text, bad) {
				c.t.Errorf("%s: its log has %q", s.Name, bad)
			}
		}
	}
	if err := remove(c.project); err != nil {
		c.t.Logf("Docker did not remove all of %s; the next run tries again: %v", c.project, err)
	}
}

// newFolder empties and returns the folder of a test below bin/e2e, or below the one that
// QUOLL_ARTIFACTS names. Only the last run of each test is kept.
func newFolder(t testing.TB, root string) string {
	parent := os.Getenv("QUOLL_ARTIFACTS")
	if parent == "" {
		parent = filepath.Join(root, "bin", "e2e")
	}
	dir := filepath.Join(parent, strings.ReplaceAll(t.Name(), "/", "-"))
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

// saveLog writes what the container has logged in all its lives to the artefacts, and returns it.
func (s *Service) saveLog() (string, error) {
	out, err := os.Create(filepath.Join(s.cluster.Artefacts, s.Name+".log"))
	if err != nil {
		return "", err
	}
	defer out.Close()
	text, err := dockerLog(s.container())
	if err == nil {
		_, err = fmt.Fprint(out, text)
	}
	return text, err
}
