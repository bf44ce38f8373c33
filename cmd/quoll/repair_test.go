package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
)

// mender is a Backend that repairs as a test wants.
type mender struct {
	cluster
	mend func(ctx context.Context, request admin.RepairRequest, report func(admin.RepairProgress) error) error
}

func (m *mender) RepairAll(ctx context.Context, request admin.RepairRequest, report func(admin.RepairProgress) error) error {
	return m.mend(ctx, request, report)
}

func (m *mender) serve(t *testing.T) (address string) {
	server := httptest.NewServer(admin.NewHandler(m, http.NotFoundHandler(), admin.Access{}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// ends is a repair that ends at once.
func ends(last admin.RepairProgress) *mender {
	last.Done = true
	return &mender{mend: func(_ context.Context, _ admin.RepairRequest, report func(admin.RepairProgress) error) error {
		return errors.Join(report(admin.RepairProgress{Waiting: []string{"a"}}), report(last))
	}}
}

func TestRepair(t *testing.T) {
	done := admin.RepairProgress{Slots: 32768, Total: 32768, Differing: 2, Keys: 1234, Bytes: 77 << 10}
	for _, test := range []struct {
		flags string
		last  admin.RepairProgress
		want  string
	}{
		{"", done, "Compared all slots, 32768 pairs of replicas: 2 differed, 1234 keys (77.0KiB) were written again."},
		{"--dry-run", done, "Compared all slots, 32768 pairs of replicas: 2 differed, up to 1234 keys (77.0KiB) would be written again."},
		{"--slot 0-100 --node b", admin.RepairProgress{Slots: 101}, "Compared slots 0 to 100 of node b, 101 pairs of replicas: 0 differed, 0 keys (0B) were written again."},
		{"--slot 7", admin.RepairProgress{Slots: 1, Differing: 1, Keys: 1, Bytes: 9}, "Compared slot 7, 1 pair of replicas: 1 differed, 1 key (9B) was written again."},
	} {
		m := ends(test.last)
		args := append([]string{"ring", "repair", "--admin", m.serve(t)}, strings.Fields(test.flags)...)
		code, stdout, stderr := newShell().run(args...)
		require.Equal(t, exitOK, code, stderr)
		require.Empty(t, stderr)
		require.Equal(t, test.want+"\n", stdout)
		code, stdout, stderr = newShell().run(append(args, "-q")...)
		require.Equal(t, exitOK, code)
		require.Empty(t, stdout+stderr)
	}
}

func TestRepairPassesItsFlagsOn(t *testing.T) {
	var got admin.RepairRequest
	m := &mender{mend: func(_ context.Context, request admin.RepairRequest, report func(admin.RepairProgress) error) error {
		got = request
		return report(admin.RepairProgress{Done: true})
	}}
	code, _, stderr := newShell().run("ring", "repair", "--node", "b", "--slot", "3-9", "--dry-run", "--admin", m.serve(t))
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, admin.RepairRequest{First: 3, Last: 9, Node: "b", DryRun: true}, got)
}

func TestRepairThatIsNotWholeEndsWithCode1(t *testing.T) {
	m := ends(admin.RepairProgress{Slots: 10, Differing: 3, Keys: 2, Bytes: 20, Failed: 1, Unreadable: 4, Errors: []admin.RepairError{
		{Node: "a", Peer: "b", Error: "refused"}, {Node: "a", Peer: "c", Error: "no answer\x1b"}, {Node: "b", Error: "it cannot be reached: refused"},
	}})
	code, stdout, stderr := newShell().run("ring", "repair", "--admin", m.serve(t), "-q")
	require.Equal(t, exitFailure, code)
	require.Empty(t, stdout)
	require.Equal(t, "quoll: compared all slots, 10 pairs of replicas: 3 differed, 2 keys (20B) were written again; "+
		"1 key could not be written again; the nodes go on trying; "+
		"4 pairs could not be compared because the data of one is damaged: see quoll ring status; "+
		"node b has not compared to the end: it cannot be reached: refused; "+
		"node a has not compared with c to the end: \"no answer\\x1b\"\n", stderr)
}

func TestRepairFailures(t *testing.T) {
	refuse := func(err error) string {
		return (&mender{mend: func(context.Context, admin.RepairRequest, func(admin.RepairProgress) error) error { return err }}).serve(t)
	}
	for want, address := range map[string]string{
		"connection refused; is a quoll process running there?": "127.0.0.1:1",
		"answered: this process is no node and holds no data":   (&cluster{}).serve(t, ""),
		`answered: there is no node "x"`:                        refuse(admin.BadRequest(`there is no node "x"`)),
		"broke off; see the log of the process there":           refuse(nil),
	} {
		code, stdout, stderr := newShell().run("ring", "repair", "--admin", address)
		require.Equal(t, exitFailure, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestRepairUsage(t *testing.T) {
	for line, want := range map[string]string{
		"--slot 16384": `quoll: slot: "16384" is out of range: slots are 0 to 16383`,
		"--slot 9-3":   `quoll: slot: "9-3" ends before it begins`,
		"--slot=-1":    `quoll: slot: "-1" is neither a slot nor a range of slots such as 0-100`,
		"--slot all":   `quoll: slot: "all" is neither a slot nor a range of slots such as 0-100`,
	} {
		code, stdout, stderr := newShell().run(append([]string{"ring", "repair"}, strings.Fields(line)...)...)
		require.Equal(t, exitUsage, code, line)
		require.Empty(t, stdout, line)
		require.Equal(t, want+"\n", stderr, line)
	}
}

func TestAnInterruptedRepair(t *testing.T) {
	s := newShell()
	ended := make(chan struct{})
	m := &mender{mend: func(ctx context.Context, _ admin.RepairRequest, report func(admin.RepairProgress) error) error {
		defer close(ended)
		err := report(admin.RepairProgress{Slots: 1, Total: 2})
		s.signals <- os.Interrupt
		<-ctx.Done()
		return err
	}}
	code, stdout, stderr := s.run("ring", "repair", "--admin", m.serve(t))
	require.Equal(t, exitFailure, code)
	require.Empty(t, stdout)
	require.Equal(t, "quoll: the replicas were not compared to the end: interrupted\n", stderr)
	<-ended
}

func TestADryRunSaysWhatWouldBeWritten(t *testing.T) {
	require.Contains(t, repairState{admin.RepairProgress{Slots: 25, Total: 100, Keys: 1}, true}.text(time.Second), "1 key to write")
}

func TestRingStatusShowsWhatReplicasMissed(t *testing.T) {
	c := &cluster{status: healthy()}
	ago := func(d time.Duration) *time.Time { then := time.Now().Add(-d); return &then }
	nodes := c.status.Nodes
	nodes[0].Repair = []admin.PeerRepair{{Peer: "b", LastPass: ago(24 * time.Hour)},
		{Peer: "c", SlotsDiffering: 12, DifferingSince: ago(100 * time.Hour), LastPass: ago(24 * time.Hour), Keys: 1500, Bytes: 2 << 20, Hints: 40, HintedSlots: 2}}
	nodes[1].Repair = []admin.PeerRepair{{Peer: "a", LastPass: ago(24 * time.Hour)}, {Peer: "c", SlotsDiffering: 1, DifferingSince: ago(50 * time.Hour), LastPass: ago(24 * time.Hour)}}
	now := time.Now()
	var out strings.Builder
	require.NoError(t, printMissed(&out, c.status, now))
	require.Equal(t, `
NODE  REPLICA MISSED  FOR       COMPARED     WRITTEN AGAIN      HINTS        TOMBSTONES
a     0 slots         -         24h0m0s ago  0 keys, 0B         0            3
b     0 slots         -         24h0m0s ago  0 keys, 0B         0            3
c     13 slots        100h0m0s  24h0m0s ago  1500 keys, 2.0MiB  40, 2 slots  3
`, out.String())
	code, stdout, _ := newShell().run("ring", "status", "--admin", c.serve(t, ""))
	require.Equal(t, exitOK, code)
	require.Contains(t, stdout, "REPLICA MISSED")

	nodes[0].Repair, nodes[1].Repair = nodes[0].Repair[:1], nodes[1].Repair[:1]
	out.Reset()
	require.NoError(t, printMissed(&out, c.status, now))
	require.Empty(t, out.String(), "there is nothing to show")
}
