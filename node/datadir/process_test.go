package datadir

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// helperVariable makes the test binary a process that holds the directory which the variable names.
const helperVariable = "QUOLL_DATADIR_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(helperVariable); path != "" {
		os.Exit(hold(path))
	}
	os.Exit(m.Run())
}

// hold opens a directory and keeps it until its input ends.
func hold(path string) int {
	opt := options(path, FsyncInterval)
	opt.BootID = ""
	d, err := Open(opt)
	if err != nil {
		_, _ = io.WriteString(os.Stdout, err.Error()+"\n")
		return 1
	}
	_, _ = io.WriteString(os.Stdout, "held\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := d.Close(true); err != nil {
		return 1
	}
	return 0
}

// otherProcess is one that has opened a directory, or said why not.
type otherProcess struct {
	*exec.Cmd
	said  string
	input io.Closer
}

func startHolding(t *testing.T, path string) otherProcess {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), helperVariable+"="+path)
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	return otherProcess{Cmd: cmd, said: line, input: input}
}

func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	path, generation := newDir(t)
	first := startHolding(t, path)
	require.Equal(t, "held\n", first.said)
	want := "data directory " + path + " is in use by another process: its process ID is " + strconv.Itoa(first.Process.Pid) +
		"; stop that one, or give each node a --data of its own"
	_, err := Open(options(path, FsyncAlways))
	require.ErrorIs(t, err, ErrLocked)
	require.EqualError(t, err, want)
	second := startHolding(t, path)
	require.Equal(t, want+"\n", second.said)
	require.Error(t, second.Wait())

	require.NoError(t, first.Process.Kill())
	require.Error(t, first.Wait())
	if systemBoot() == "" {
		return
	}
	third := startHolding(t, path) // on the same boot: nothing is lost, and the lock went with its holder
	require.Equal(t, "held\n", third.said)
	require.NoError(t, third.input.Close())
	require.NoError(t, third.Wait())
	d := mustOpen(t, options(path, FsyncAlways))
	defer d.Close(true)
	require.Empty(t, d.LostState())
	require.Equal(t, generation, d.Generation())
}

func TestKilledOnAnotherBoot(t *testing.T) {
	path, generation := newDir(t)
	other := startHolding(t, path)
	require.NoError(t, other.Process.Kill())
	require.Error(t, other.Wait())
	d := mustOpen(t, options(path, FsyncAlways)) // a monday, which no system calls itself
	defer d.Close(true)
	require.NotEmpty(t, d.LostState())
	require.NotEqual(t, generation, d.Generation())
}

func TestTwiceInOneProcess(t *testing.T) {
	path, _ := newDir(t)
	d := mustOpen(t, options(path, FsyncAlways))
	_, err := Open(options(path, FsyncAlways))
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, os.Truncate(filepath.Join(path, lockFile), 0))
	_, err = Open(options(path, FsyncAlways))
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "by which, is not known")
	require.NoError(t, d.Close(true))
	require.NoError(t, mustOpen(t, options(path, FsyncAlways)).Close(true))
}
