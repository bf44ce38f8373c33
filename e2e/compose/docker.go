//go:build linux

package compose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// commandTime is how long a docker command may take, on a machine that is busy.
const commandTime = 2 * time.Minute

// run runs a program to its end and returns what it wrote to standard output.
func run(input string, program string, args ...string) (string, error) {
	return runIn(context.Background(), nil, input, program, args...)
}

// runIn is run with more environment variables, until a context ends.
func runIn(ctx context.Context, env []string, input string, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr = ownGroup()
	var out, errs strings.Builder
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), strings.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("compose: %s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// docker runs the docker command.
func docker(args ...string) (string, error) { return run("", "docker", args...) }

// dockerLog returns what a container wrote to standard output and error, with times.
func dockerLog(container string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", "logs", "-t", container).CombinedOutput()
	return string(out), err
}

// ErrUnfit is what Check's errors are: this machine cannot run the scenarios.
var ErrUnfit = errors.New("compose")

// unfit says what is missing and what to do.
func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnfit, fmt.Sprintf(format, args...))
}

// Check returns nil if clusters of containers can be run and broken here, or else one
// sentence that says what is missing and what to do about it. It asks the Docker daemon.
func Check() error {
	if _, err := exec.LookPath("docker"); err != nil {
		return unfit("docker is not installed: install Docker Engine and docker-compose")
	}
	if composeCommand() == nil {
		return unfit("neither docker-compose nor the plug-in \"docker compose\" is installed: install one of them")
	}
	if _, err := docker("version", "--format", "{{.Server.Version}}"); err != nil {
		if strings.Contains(err.Error(), "permission denied") {
			return unfit("this user may not talk to the Docker daemon: run as root, or join the group docker")
		}
		return unfit("the Docker daemon does not answer: start it (%s)", lastLine(err.Error()))
	}
	for program, pkg := range map[string]string{"nsenter": "util-linux", "iptables-restore": "iptables", "tc": "iproute2", "ip": "iproute2"} {
		if _, err := exec.LookPath(program); err != nil {
			return unfit("%s is not installed, with which networks are broken: install %s, and have /usr/sbin in PATH", program, pkg)
		}
	}
	if os.Geteuid() != 0 {
		return unfit("breaking the networks of containers needs root: run it as root (sudo)")
	}
	return nil
}

// composeCommand is docker-compose, of whichever generation, or nil.
func composeCommand() []string {
	if _, err := exec.LookPath("docker-compose"); err == nil {
		return []string{"docker-compose"}
	}
	if _, err := docker("compose", "version"); err == nil {
		return []string{"docker", "compose"}
	}
	return nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
