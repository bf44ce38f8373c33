package ring

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
)

func TestCRC16(t *testing.T) {
	require.EqualValues(t, 0x31C3, crc16([]byte("123456789")), "the check value of CRC-16/XMODEM")
	require.EqualValues(t, 0, crc16(nil))
}

func TestSlotOf(t *testing.T) {
	needsAllSlots(t)
	for key, slot := range map[string]uint16{
		"foo":   12182,
		"bar":   5061,
		"hello": 866,
		"":      0,
	} {
		require.Equal(t, slot, SlotOf([]byte(key)), "key %q", key)
	}
}

// The examples of the Redis Cluster specification, section "Hash tags".
func TestHashTags(t *testing.T) {
	for key, tag := range map[string]string{
		"{user1000}.following": "user1000",
		"{user1000}.followers": "user1000",
		"foo{}{bar}":           "foo{}{bar}",
		"foo{{bar}}zap":        "{bar",
		"foo{bar}{zap}":        "bar",
		"{}":                   "{}",
		"}{":                   "}{",
		"a}b{c}":               "c",
		"open{only":            "open{only",
	} {
		require.Equal(t, crc16([]byte(tag))%Slots, SlotOf([]byte(key)), "key %q", key)
	}
}

func TestSlotOfDoesNotAllocate(t *testing.T) {
	key := []byte("some{tagged}key")
	require.Zero(t, testing.AllocsPerRun(100, func() { SlotOf(key) }))
}

// TestSlotOfAgreesWithRedis asks a real redis-server about random binary keys.
func TestSlotOfAgreesWithRedis(t *testing.T) {
	needsAllSlots(t)
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server on PATH to compare with")
	}
	conn := startRedis(t, binary)
	reader := bufio.NewReader(conn)
	random := rand.New(rand.NewPCG(1, 2))
	var request []byte
	var keys [][]byte
	for range 2000 {
		key := make([]byte, random.IntN(40))
		for i := range key {
			key[i] = byte(random.Uint32())
			if random.IntN(5) == 0 {
				key[i] = "{}"[random.IntN(2)]
			}
		}
		keys = append(keys, key)
		request = fmt.Appendf(request, "*3\r\n$7\r\nCLUSTER\r\n$7\r\nKEYSLOT\r\n$%d\r\n%s\r\n", len(key), key)
	}
	go func() { _, _ = conn.Write(request) }() // an error shows in the reads
	for _, key := range keys {
		reply, err := reader.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf(":%d\r\n", SlotOf(key)), reply, "key %q", key)
	}
}

// startRedis runs a redis-server in cluster mode until the test ends, and connects.
func startRedis(t *testing.T, binary string) net.Conn {
	for range 5 { // the free port may be taken before the server has it
		port := freePort(t)
		cmd := exec.Command(binary, "--port", port, "--cluster-enabled", "yes", "--cluster-port", freePort(t),
			"--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
		output, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		lines := bufio.NewScanner(output)
		ready := false
		for !ready && lines.Scan() {
			ready = strings.Contains(lines.Text(), "Ready to accept connections")
		}
		if !ready {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, output) }()
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		return conn
	}
	t.Skip("redis-server would not start in cluster mode")
	return nil
}

func freePort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

func BenchmarkSlotOf(b *testing.B) {
	key := []byte("key:000000012345")
	for b.Loop() {
		SlotOf(key)
	}
}

// TestSlotOfDatabases: a key is in the same slot in all databases.
func TestSlotOfDatabases(t *testing.T) {
	for _, key := range []string{"", "a", "x{a}y", "{}", "\xffquoll"} {
		for number := range database.Count {
			require.Equal(t, SlotOf([]byte(key)), SlotOf(database.IDOf(number, false).Key([]byte(key))), "%q in %d", key, number)
		}
	}
}
