//go:build linux

package compose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// What is made in Docker bears the number and the start of the process that made it in its name, so that
// a later run finds out what nobody owns any more: projects "quoll-e2e-PID-START-N", the image
// "quoll-e2e:PID-START".
const prefix = "quoll-e2e"

// owner names this process.
var owner = sync.OnceValue(func() string { return fmt.Sprint(os.Getpid(), "-", startOf(os.Getpid())) })

var owned = regexp.MustCompile(`^` + prefix + `[-:](\d+)-(\d+)(-\d+)?$`)

// orphaned reports whether a name is of something that a process made which is gone.
func orphaned(name string) bool {
	match := owned.FindStringSubmatch(name)
	if match == nil {
		return false
	}
	pid, err := strconv.Atoi(match[1])
	return err == nil && startOf(pid) != match[2]
}

// live are the projects that are up.
var live struct {
	sync.Mutex
	projects map[string]bool
	number   int
}

// newProject returns the name of a new project, which is taken down when this process is
// interrupted.
func newProject() string {
	live.Lock()
	defer live.Unlock()
	live.number++
	name := fmt.Sprint(prefix, "-", owner(), "-", live.number)
	if live.projects == nil {
		live.projects = map[string]bool{}
	}
	live.projects[name] = true
	return name
}

// projectLabel is what docker-compose marks with the project's name all that it makes.
const projectLabel = "com.docker.compose.project"

// remove removes all that there is of a project, running or not. Docker lets go of a network a moment after its
// last container is gone.
func remove(project string) error {
	live.Lock()
	delete(live.projects, project)
	live.Unlock()
	err := removeOnce(project)
	for range 5 {
		if err == nil {
			break
		}
		time.Sleep(time.Second)
		err = removeOnce(project)
	}
	return err
}

func removeOnce(project string) error {
	var errs []error
	for _, kind := range []struct{ list, remove []string }{
		{[]string{"ps", "-aq"}, []string{"rm", "-f", "-v"}},
		{[]string{"network", "ls", "-q"}, []string{"network", "rm"}},
		{[]string{"volume", "ls", "-q"}, []string{"volume", "rm", "-f"}},
	} {
		found, err := docker(append(kind.list, "--filter", "label="+projectLabel+"="+project)...)
		if names := strings.Fields(found); err == nil && len(names) > 0 {
			_, err = docker(append(kind.remove, names...)...)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sweep removes what runs left behind that were killed, and nothing else.
var sweep = sync.OnceValue(func() error {
	projects := map[string]bool{}
	for _, list := range [][]string{{"ps", "-a"}, {"network", "ls"}, {"volume", "ls"}} {
		labels, err := docker(append(list, "--filter", "label="+projectLabel, "--format", `{{.Label "`+projectLabel+`"}}`)...)
		if err != nil {
			return err
		}
		for _, project := range strings.Fields(labels) {
			projects[project] = orphaned(project)
		}
	}
	var errs []error
	for project, orphan := range projects {
		if orphan {
			errs = append(errs, remove(project))
		}
	}
	images, err := docker("images", prefix, "--format", "{{.Repository}}:{{.Tag}}")
	errs = append(errs, err)
	for _, image := range strings.Fields(images) {
		if orphaned(image) {
			_, err := docker("rmi", "-f", image)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
})

// untilInterrupted ends when this process is to end: nothing is made any more.
var untilInterrupted, interrupt = context.WithCancel(context.Background())

// Main is what a package's TestMain calls: it runs the tests, removes the image that was built
// for them, and returns the exit code. Interrupted by SIGINT or SIGTERM it takes everything down first.
func Main(m *testing.M) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		fmt.Fprintf(os.Stderr, "compose: %v: removing the containers of this run\n", <-signals)
		interrupt()
		removeAll()
		os.Exit(130)
	}()
	code := m.Run()
	removeAll()
	return code
}

// removeAll removes what this process made.
func removeAll() {
	live.Lock()
	var projects []string
	for project := range live.projects {
		projects = append(projects, project)
	}
	live.Unlock()
	for _, project := range projects {
		complain(remove(project))
	}
	complain(removeImage())
}

func complain(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
