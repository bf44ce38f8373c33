package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/artifact"
)

// workshop compiles and runs mutants in a folder of its own.
type workshop struct{ dir string }

// tries is how often a scenario may pass before its mutant counts as not caught: nodes in real time do not always meet what a rule is for.
const tries = 3

// patience is how long compiling a mutant, or one trial of it, may take.
const patience = 5 * time.Minute

// compile makes the test binary of a package, mutated by m unless that is nil, and
// returns its path.
func (w *workshop) compile(m *mutation, pkg string) (string, error) {
	dir := filepath.Join(w.dir, "unmutated")
	args := []string{"test", "-c", "-vet=off"}
	if pkg == world { // see its comment
		args = append(args, "-tags", "worldlocks,small", "-ldflags=-checklinkname=0")
	}
	if m != nil {
		dir = filepath.Join(w.dir, m.name)
		overlay, err := m.overlay(dir)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	binary := filepath.Join(dir, strings.ReplaceAll(pkg, "/", "_")+".test")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append(args, "-o", binary, "./"+pkg)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("does not compile: %w\n%s", err, out)
	}
	return binary, nil
}

// overlay writes the changed files and the list of them that the compiler wants.
func (m *mutation) overlay(dir string) (string, error) {
	changed, err := m.apply()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, source := range changed {
		mutant := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(mutant, source, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = mutant
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}

// run runs a trial in a test binary, and keeps what it leaves behind in the binary's
// folder. failed says whether it failed, as opposed to passed; err that it did not run to its end. A
// search of a mutant is stopped as soon as it has found something, unless all of it is wanted: it would
// go on to look for a shorter history.
func (tr *trial) run(binary string, mutant, all bool) (out string, failed bool, err error) {
	args := []string{"-test.run", tr.pattern(), "-test.v", "-test.timeout", "0"}
	flag := "-mode"
	if tr.pkg == world {
		flag = "-schedule"
	}
	if tr.mode != "" {
		args = append(args, flag, tr.mode, "-seed", "1", "-seeds", strconv.Itoa(tr.seeds))
	}
	if tr.mode == "" && mutant {
		args = append(args, "-test.count", strconv.Itoa(tries), "-test.failfast")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found, stop := context.WithCancel(ctx)
	defer stop()
	text := &watched{says: regexp.MustCompile(tr.says)}
	if tr.mode != "" && mutant && !all {
		text.stop = stop
	}
	cmd := exec.CommandContext(found, binary, args...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(tr.pkg))
	cmd.Env = append(os.Environ(), artifact.Variable+"="+filepath.Dir(binary), "GODEBUG=asyncpreemptoff=1,disablethp=1,randautoseed=0")
	cmd.Stdout, cmd.Stderr = text, text
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return text.String(), false, fmt.Errorf("did not end within %v", patience)
	case errors.As(err, &exit), found.Err() != nil:
		return text.String(), true, nil
	}
	return text.String(), false, err
}

// pattern selects exactly the trial's test.
func (tr *trial) pattern() string {
	names := strings.Split(tr.test, "/")
	if tr.mode != "" {
		names = append(names, tr.mode)
	}
	for i, name := range names {
		names[i] = "^" + regexp.QuoteMeta(name) + "$"
	}
	return strings.Join(names, "/")
}

// watched keeps what a test prints, and calls stop when it has said what was expected.
type watched struct {
	bytes.Buffer
	says *regexp.Regexp
	stop func() // nil: it is let go on
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.stop != nil && w.says.Match(w.Bytes()) {
		w.stop()
	}
	return n, err
}

// ranNothing is what a test binary prints that knows no test of the name.
const ranNothing = "no tests to run"

// judge says why what a mutant's trial printed does not show that it was caught, nil
// if it does.
func (tr *trial) judge(out string, failed bool) error {
	switch {
	case strings.Contains(out, ranNothing):
		return fmt.Errorf("there is no test %s in %s", tr.test, tr.pkg)
	case !failed:
		return errors.New("nobody noticed")
	case tr.mode == "" && !strings.Contains(out, "--- FAIL: "+tr.test):
		return fmt.Errorf("the binary failed, but not %s", tr.test)
	case !regexp.MustCompile(tr.says).MatchString(out):
		return fmt.Errorf("it was noticed, but not by %q", tr.says)
	}
	return nil
}

var seedPattern = regexp.MustCompile(`\bseed (\d+) ([a-z ]+);`)

// seedOf returns the seed that a search stopped at, and what was wrong with its history.
func seedOf(out string) (seed, problem string) {
	if m := seedPattern.FindStringSubmatch(out); m != nil {
		return m[1], m[2]
	}
	return "", ""
}
