//go:build linux

package compose

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checkout is a folder like that of the source, as far as the commands of docs/containers.md need it: make up and what goes with it, and bin/quoll. What they
// start belongs to this process, and is removed when the test ends.
type Checkout struct {
	Dir string
	// Port is where the first proxy is published.
	Port string

	t       testing.TB
	project string
	env     []string
}

// NewCheckout makes one. ports are two that are free.
func NewCheckout(t testing.TB, ports [2]string) *Checkout {
	t.Helper()
	require.NoError(t, Check())
	name, err := image()
	require.NoError(t, err)
	root, err := moduleRoot()
	require.NoError(t, err)
	c := &Checkout{Dir: t.TempDir(), Port: ports[0], t: t, project: newProject()}
	c.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "QUOLL_IMAGE=" + name, "QUOLL_PROJECT=" + c.project, "QUOLL_PORT=" + ports[0], "QUOLL_PORT2=" + ports[1]}
	for _, pattern := range []string{"Makefile", "deploy/compose*.sh", "deploy/compose*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range files {
			c.copy(root, file)
		}
	}
	require.NoError(t, os.Mkdir(filepath.Join(c.Dir, "bin"), 0o755))
	c.takeBinary(name)
	t.Cleanup(func() {
		if err := remove(c.project); err != nil {
			t.Logf("Docker did not remove all of %s; the next run tries again: %v", c.project, err)
		}
	})
	return c
}

func (c *Checkout) copy(root, file string) {
	text, err := os.ReadFile(file)
	require.NoError(c.t, err)
	target := filepath.Join(c.Dir, strings.TrimPrefix(file, root))
	require.NoError(c.t, os.MkdirAll(filepath.Dir(target), 0o755))
	require.NoError(c.t, os.WriteFile(target, text, 0o755))
}

// takeBinary copies quoll out of the image.
func (c *Checkout) takeBinary(image string) {
	id, err := docker("create", image)
	require.NoError(c.t, err)
	defer func() { _, _ = docker("rm", strings.TrimSpace(id)) }()
	_, err = docker("cp", strings.TrimSpace(id)+":/usr/local/bin/quoll", filepath.Join(c.Dir, "bin", "quoll"))
	require.NoError(c.t, err)
}

// Run runs a command of the page in the folder, and returns what it prints.
func (c *Checkout) Run(command string) (string, error) {
	shell := exec.Command("sh", "-ec", command)
	shell.Dir, shell.Env = c.Dir, c.env
	out, err := shell.CombinedOutput()
	return string(out), err
}

// Log is what a service has logged.
func (c *Checkout) Log(service string) string {
	id, err := docker("ps", "-aq", "--filter", "label="+projectLabel+"="+c.project, "--filter", "label=com.docker.compose.service="+service)
	require.NoError(c.t, err)
	text, err := dockerLog(strings.TrimSpace(id))
	require.NoError(c.t, err)
	return text
}
