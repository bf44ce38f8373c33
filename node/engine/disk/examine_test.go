package disk_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// Damaged directories are opened by another process, an examiner: a panic in one of
// Badger's goroutines, or a fault in a map, ends that and not the tests.

const (
	examinerVariable = "QUOLL_EXAMINER"
	// nobody is the user that examiners become who are to have no special rights.
	nobody = 65534
	// patience is how long one examination may take.
	patience = time.Minute
)

func TestMain(m *testing.M) {
	switch os.Getenv(examinerVariable) {
	case "":
		// Every engine has a few megabytes of slots, and there are thousands of engines.
		debug.SetGCPercent(400)
		os.Exit(runInMemory(m))
	case "closed", "killed":
		exit(fill(os.Getenv(examinerVariable)))
	case "full":
		exit(closeWhenTold(os.Getenv(fillVariable), os.Stdin, os.Stdout))
	case "nobody":
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			exit(err)
		}
	}
	serve(os.Stdin, os.Stdout)
}

// exit ends a process that is not the one of the tests.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// verdict is what became of a directory.
type verdict struct {
	// Refused is the error of Open, Corrupt whether that is engine.ErrCorrupt.
	Refused string
	Corrupt bool
	// Unreadable is how many answers were engine.ErrCorrupt.
	Unreadable int
	// Wrong is what should not have happened at all.
	Wrong string
}

// serve examines the directories that it reads the names of.
func serve(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		times, dir, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.Atoi(times)
		_ = json.NewEncoder(out).Encode(examine(dir, n))
	}
}

// examine opens a directory, compares what is there with the population, and writes;
// several times: what was not noticed must not become worse.
func examine(dir string, times int) (v verdict) {
	for range times {
		opt := small(dir)
		opt.MustExist = true
		e, err := opt.open()
		if err != nil {
			v.Refused, v.Corrupt = err.Error(), errors.Is(err, engine.ErrCorrupt)
			return v
		}
		unreadable, err := populated().compare(e)
		v.Unreadable += unreadable
		if err != nil {
			v.Wrong = errors.Join(err, e.Close()).Error()
			return v
		}
		// The store may well fail now, but then it says so.
		err = e.Put(7, []byte("new"), record.Record{Version: versionOf(1)})
		_ = errors.Join(err, commit(e), e.Close())
	}
	return v
}

// examiner is a process that examines.
type examiner struct {
	user string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  chan string
	log  *strings.Builder
}

// newExaminer returns one that runs as the user of the tests, or as "nobody". Its process
// is started when there is something to do, and ends with the test.
func newExaminer(t *testing.T, user string) *examiner {
	x := &examiner{user: user}
	t.Cleanup(x.stop)
	return x
}

func (x *examiner) start() error {
	x.cmd = exec.Command(os.Args[0])
	x.cmd.Env = append(os.Environ(), examinerVariable+"="+x.user)
	x.log = &strings.Builder{}
	x.cmd.Stderr = x.log
	in, err := x.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	x.in, x.out = in, make(chan string)
	go func(lines chan<- string) {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}(x.out)
	return x.cmd.Start()
}

func (x *examiner) stop() {
	if x.cmd == nil {
		return
	}
	_ = x.cmd.Process.Kill()
	for range x.out {
	}
	_ = x.cmd.Wait()
	x.cmd = nil
}

// examine returns the verdict on a directory. That the process ended or did not
// answer is wrong.
func (x *examiner) examine(t *testing.T, dir string) (v verdict) {
	if x.cmd == nil {
		if err := x.start(); err != nil {
			t.Fatal(err)
		}
	}
	times := 2
	if testing.Short() {
		times = 1
	}
	fmt.Fprintln(x.in, times, dir)
	select {
	case line, alive := <-x.out:
		if !alive {
			x.stop()
			v.Wrong = "the process ended: " + x.log.String()
		} else if err := json.Unmarshal([]byte(line), &v); err != nil {
			v.Wrong = line
		}
	case <-time.After(patience):
		_ = x.cmd.Process.Signal(syscall.SIGQUIT) // which shows all goroutines
		x.stop()
		v.Wrong = "it hangs: " + x.log.String()
	}
	return v
}

// begin returns the first lines of a text, or all of it if the test is verbose.
func begin(text string) string {
	if lines := strings.SplitAfterN(text, "\n", 4); len(lines) == 4 && !testing.Verbose() {
		return strings.Join(lines[:3], "")
	}
	return text
}

// closeWhenTold writes the last stage of the population, says so, and closes the engine when
// nothing more comes from in.
func closeWhenTold(dir string, in io.Reader, out io.Writer) error {
	e, err := calm(dir).open()
	if err != nil {
		return err
	}
	if err := stage(e, stages-1); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	return e.Close()
}
