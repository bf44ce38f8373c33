package admin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseSlots(t *testing.T) {
	for text, want := range map[string][2]uint16{"": {0, 16383}, "7": {7, 7}, "0": {0, 0}, "0-100": {0, 100}, "16383": {16383, 16383}, "5-5": {5, 5}} {
		first, last, err := ParseSlots(text)
		require.NoError(t, err, text)
		require.Equal(t, want, [2]uint16{first, last}, text)
	}
	for text, want := range map[string]string{
		"16384":   `"16384" is out of range: slots are 0 to 16383`,
		"0-99999": `"0-99999" is out of range: slots are 0 to 16383`,
		"9-3":     `"9-3" ends before it begins`,
		"x":       `"x" is neither a slot nor a range of slots such as 0-100`,
		"1-":      `"1-" is neither a slot nor a range of slots such as 0-100`,
		"-1":      `"-1" is neither a slot nor a range of slots such as 0-100`,
		"1-2-3":   `"1-2-3" is neither a slot nor a range of slots such as 0-100`,
		" 1":      `" 1" is neither a slot nor a range of slots such as 0-100`,
	} {
		_, _, err := ParseSlots(text)
		require.EqualError(t, err, want)
	}
}

// mender is a Backend that repairs as a test wants.
type mender struct {
	fake
	mend func(ctx context.Context, request RepairRequest, report func(RepairProgress) error) error
}

func (m *mender) RepairAll(ctx context.Context, request RepairRequest, report func(RepairProgress) error) error {
	return m.mend(ctx, request, report)
}

func serveMender(t *testing.T, mend func(context.Context, RepairRequest, func(RepairProgress) error) error) *httptest.Server {
	server := httptest.NewUnstartedServer(NewHandler(&mender{mend: mend}, http.NotFoundHandler(), Access{Secret: "hush"}))
	server.Config.ReadTimeout, server.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func TestRepairIsReportedAsItGoes(t *testing.T) {
	seen := make(chan struct{})
	var got RepairRequest
	server := serveMender(t, func(_ context.Context, request RepairRequest, report func(RepairProgress) error) error {
		got = request
		if err := report(RepairProgress{Slots: 1, Waiting: []string{"b"}}); err != nil {
			return err
		}
		<-seen
		return report(RepairProgress{Slots: 2, Keys: 3, Errors: []RepairError{{"a", "b", "gone"}}, Done: true})
	})
	request := RepairRequest{First: 3, Last: 9, Node: "a&b", DryRun: true}
	var all []RepairProgress
	last, err := client(t, server.URL, "hush").Repair(t.Context(), request, func(p RepairProgress) {
		if all = append(all, p); !p.Done {
			time.AfterFunc(100*time.Millisecond, func() { close(seen) }) // longer than a short answer may take
		}
	})
	require.NoError(t, err)
	require.Equal(t, request, got)
	require.Equal(t, []RepairProgress{{Slots: 1, Waiting: []string{"b"}}, last}, all)
	require.Equal(t, RepairProgress{Slots: 2, Keys: 3, Errors: []RepairError{{"a", "b", "gone"}}, Done: true}, last)
}

func TestRepairErrors(t *testing.T) {
	ask := func(server, secret string) error {
		_, err := client(t, server, secret).Repair(t.Context(), RepairRequest{}, func(RepairProgress) {})
		return err
	}
	with := func(err error) string {
		return serveMender(t, func(context.Context, RepairRequest, func(RepairProgress) error) error { return err }).URL
	}
	require.ErrorContains(t, ask(with(BadRequest("there is no node x")), "hush"), "answered: there is no node x")
	require.ErrorContains(t, ask(with(errors.New("forming")), "hush"), "answered: forming")
	require.ErrorIs(t, ask(with(nil), "wrong"), ErrUnauthorized)
	require.ErrorContains(t, ask(with(nil), "hush"), "broke off", "there is no last line")
	require.ErrorContains(t, ask(serve(t, &fake{}, "").URL, ""), "this process is no node and holds no data")
	require.ErrorIs(t, ask("127.0.0.1:1", ""), ErrUnreachable)

	server := serveMender(t, nil)
	for query, want := range map[string]string{
		"slots=9-3":     `slots: "9-3" ends before it begins`,
		"dry-run=maybe": `dry-run: "maybe" is neither true nor false`,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/repair?"+query, http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer hush")
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
		require.NoError(t, response.Body.Close())
		_, err = repairRequest(r)
		require.EqualError(t, err, want)
	}
}

func TestRepairEndsWithItsClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := serveMender(t, func(ctx context.Context, _ RepairRequest, report func(RepairProgress) error) error {
		err := report(RepairProgress{})
		<-ctx.Done()
		ended <- err
		return ctx.Err()
	})
	_, err := client(t, server.URL, "hush").Repair(ctx, RepairRequest{}, func(RepairProgress) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, <-ended)
}

func TestMissed(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { then := now.Add(-d); return &then }
	s := Status{Nodes: []NodeStatus{
		{Name: "a", RepairPaused: true, Repair: []PeerRepair{
			{Peer: "b", LastPass: ago(time.Second)},
			{Peer: "c", SlotsDiffering: 3, DifferingSince: ago(11 * time.Minute), LastPass: ago(2 * time.Second), Keys: 5, Bytes: 50}}},
		{Name: "b", Repair: []PeerRepair{
			{Peer: "a", SlotsDiffering: 1, DifferingSince: ago(10 * time.Minute), LastPass: ago(time.Minute)},
			{Peer: "c", SlotsDiffering: 4, DifferingSince: ago(time.Minute), LastPass: ago(time.Second), Keys: 1, Bytes: 7, Error: "no answer"}}},
		{Name: "c", Repair: []PeerRepair{{Peer: "a"}}},
	}}
	require.Equal(t, []Missed{
		{Node: "a", Slots: 1, Since: now.Add(-10 * time.Minute), passes: 2},
		{Node: "b", Compared: now.Add(-time.Second), passes: 1},
		{Node: "c", Slots: 7, Since: now.Add(-11 * time.Minute), Compared: now.Add(-2 * time.Second), Keys: 6, Bytes: 57, passes: 2,
			Reasons: []string{"the repair is paused on a (repair-rate 0)", "b cannot compare with it: no answer"}},
	}, s.Missed())
	require.Equal(t, []string{"node c and others have differed for 11m0s, in 7 slots when they were compared last: " +
		"b cannot compare with it: no answer; the repair is paused on a (repair-rate 0)"}, s.warnMissed(now))
}
