//go:build unix

package e2e

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// TestRedisCLI uses redis-cli's own ways, beyond single commands: what works, and that what does not says so.
func TestRedisCLI(t *testing.T) {
	t.Parallel()
	cli := needs(t, "redis-cli")
	_, address := startDev(t, patient)
	port := portOf(t, address)
	run := func(input string, args ...string) string {
		// Some print for ever: an interrupt, as from the keyboard, ends them.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, cli, append([]string{"-p", port}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, _ := cmd.CombinedOutput() // its exit code means little
		require.NoError(t, ctx.Err(), "%q did not end: %s", args, out)
		return string(out)
	}
	require.Contains(t, run("", "set", "x", "zero"), "OK")
	require.Contains(t, run("SET x 1\nINCR x\n"), "OK\n2")
	mass := strings.Repeat("*3\r\n$3\r\nSET\r\n$4\r\npipe\r\n$1\r\n1\r\n", 1000)
	require.Contains(t, run(mass, "--pipe"), "errors: 0, replies: 1000")
	require.ElementsMatch(t, []string{"pipe", "x"}, strings.Fields(run("", "--scan")))
	require.Contains(t, run("", "--bigkeys"), "2 strings with 2 bytes")
	require.Contains(t, run("", "--memkeys"), "Sampled 2 keys")
	require.Contains(t, run("", "-r", "3", "incr", "n"), "1\n2\n3")
	require.Contains(t, run("MULTI\nINCR n\nNOSUCH\nEXEC\nGET n\n"), "EXECABORT", "and nothing was counted")
	require.Contains(t, run("", "get", "n"), "3")

	script := filepath.Join(t.TempDir(), "add.lua")
	require.NoError(t, os.WriteFile(script, []byte("return redis.call('INCRBY', KEYS[1], ARGV[1])"), 0o600))
	require.Contains(t, run("", "--eval", script, "n", ",", "4"), "7")

	require.Contains(t, run("", "publish", "channel", "message"), "0")

	// Another database: this one is neither read nor written.
	for _, step := range []struct{ command, prints string }{
		{"get x", "\n"}, {"set x other", "OK\n"}, {"get x", "other\n"}, {"dbsize", "1\n"}, {"keys *", "x\n"}, {"--scan", "x\n"}, {"flushdb", "OK\n"}, {"dbsize", "0\n"},
	} {
		require.Equal(t, step.prints, run("", append([]string{"-n", "1"}, strings.Fields(step.command)...)...), step.command)
	}
	require.Contains(t, run("", "-n", "16", "get", "x"), "ERR DB index is out of range")
	require.Equal(t, "2\n", run("", "get", "x"))

	for _, args := range [][]string{{"--rdb", t.TempDir() + "/x.rdb"}, {"--replica"}, {"swapdb", "0", "1"}} {
		require.Contains(t, run("", args...), "not supported yet by Quoll", args)
	}
	for option, want := range map[string]string{"--stat": "clients", "--latency": ""} {
		out := interrupted(t, cli, "-p", port, option, "-i", "0.01") // it prints when it has some thousand bytes, if to no terminal
		require.Contains(t, out, want)
		require.NotRegexp(t, `(?i)\berr|not supported`, out, option)
	}
}

// interrupted runs a program until it has printed something, and returns that.
func interrupted(t *testing.T, program string, args ...string) string {
	cmd := exec.Command(program, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	first := make([]byte, 4096)
	n, err := out.Read(first)
	require.NoError(t, err, args)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	go func() { _, _ = out.Read(make([]byte, 1<<20)) }() // it may print once more before it ends
	_ = cmd.Wait()
	return string(first[:n])
}

// TestNothingThatIsListedIsRefused sends every entry of COMMAND LIST with several numbers of arguments.
func TestNothingThatIsListedIsRefused(t *testing.T) {
	t.Parallel()
	_, address := startDev(t, patient)
	client := connect(t, address)
	names, err := client.Do(t.Context(), "command", "list").StringSlice()
	require.NoError(t, err)
	require.Greater(t, len(names), 90)
	for _, name := range names {
		conn := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1, ReadTimeout: 10 * time.Second, Protocol: 2})
		for extra := range 5 {
			args := []any{}
			for word := range strings.SplitSeq(name, "|") {
				args = append(args, word)
			}
			for range extra {
				args = append(args, "on")
			}
			if name == "client|reply" && extra > 0 { // REPLY ON is answered, more arguments are too many
				continue
			}
			if err := conn.Do(t.Context(), args...).Err(); err != nil {
				require.NotContains(t, err.Error(), "not supported", name)
				require.NotContains(t, err.Error(), "unknown command", name)
			}
		}
		require.NoError(t, conn.Close())
	}
}

// TestGuessingLocksNobodyOutWhoIsIn: whoever guesses passwords is slowed down, with everybody who connects from the same address; who has
// given the right one is not.
func TestGuessingLocksNobodyOutWhoIsIn(t *testing.T) {
	t.Parallel()
	_, address := startDev(t, patient, "--password", "sesame")
	inside := redis.NewClient(&redis.Options{Addr: address, Password: "sesame", MaxRetries: -1, ReadTimeout: 10 * time.Second})
	t.Cleanup(func() { _ = inside.Close() })
	conn := inside.Conn()
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.Set(t.Context(), "k", "v", 0).Err())

	guesser, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer guesser.Close()
	require.NoError(t, guesser.SetDeadline(time.Now().Add(time.Minute)))
	refused := false
	for guesses := 0; !refused; guesses++ {
		require.Less(t, guesses, 100_000, "guessing is not slowed down")
		_, err := guesser.Write([]byte("AUTH wrong\r\n"))
		require.NoError(t, err)
		reply := make([]byte, 512)
		n, err := guesser.Read(reply)
		require.NoError(t, err)
		refused = strings.Contains(string(reply[:n]), "too many wrong passwords")
	}
	require.NoError(t, conn.Set(t.Context(), "k", "w", 0).Err())
	require.Equal(t, "w", conn.Get(t.Context(), "k").Val())
	require.ErrorContains(t, conn.Do(t.Context(), "AUTH", "sesame").Err(), "too many wrong passwords", "its address is that of the guesser")
	require.Equal(t, "w", conn.Get(t.Context(), "k").Val(), "that a password was not looked at takes nothing away")
	require.Eventually(t, func() bool { // it stops, and all is well
		return redis.NewClient(&redis.Options{Addr: address, Password: "sesame"}).Ping(t.Context()).Err() == nil
	}, 30*time.Second, 50*time.Millisecond)
}
