package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binary is the quoll to run.
var binary string

// Build builds quoll into dir. It is called once, before anything is started.
func Build(dir string) error {
	if binary = os.Getenv("E2E_BINARY"); binary != "" {
		return nil
	}
	binary = filepath.Join(dir, "quoll")
	args := append([]string{"build", "-o", binary}, strings.Fields(os.Getenv("E2E_BUILD_FLAGS"))...)
	out, err := exec.Command("go", append(args, "github.com/quolldb/quoll/cmd/quoll")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster: building quoll: %w\n%s", err, out)
	}
	return nil
}
