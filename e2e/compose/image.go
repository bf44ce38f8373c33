//go:build linux

package compose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// image builds the image of this process, from the tree's Dockerfile and a binary with the fault layer,
// and returns its name. Later calls return the same.
var image = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	context, err := os.MkdirTemp("", prefix+"-image-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(context)
	if err := os.MkdirAll(filepath.Join(context, "deploy", "data"), 0o755); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-tags", "faults", "-o", filepath.Join(context, "bin", "quoll"), "./cmd/quoll")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compose: building quoll: %w\n%s", err, out)
	}
	name := imageName()
	_, err = docker("build", "-q", "-t", name, "-f", filepath.Join(root, "deploy", "Dockerfile"), context)
	imageBuilt = err == nil
	return name, err
})

// imageBuilt is set when there is an image to remove.
var imageBuilt bool

func imageName() string { return prefix + ":" + owner() }

// removeImage removes the image of this process, if there is one.
func removeImage() error {
	if !imageBuilt {
		return nil
	}
	_, err := docker("rmi", "-f", imageName())
	return err
}

// moduleRoot is the folder of the module's source.
func moduleRoot() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("compose: the module's folder: %w", err)
	}
	return strings.TrimSpace(string(root)), nil
}
