package admin

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// reformer is a backend that notes what it is told.
type reformer struct {
	fake
	asked []ReformRequest
	err   error
}

func (r *reformer) Reform(_ context.Context, request ReformRequest) (ReformReport, error) {
	r.asked = append(r.asked, request)
	return ReformReport{Epoch: 2, Nodes: []ReformNode{{Name: "a", Lost: true}}, Done: !request.DryRun}, r.err
}

func TestReformIsToldWhatMayBeLost(t *testing.T) {
	backend := &reformer{}
	client := NewClient(serve(t, backend, "hush").URL, "hush")
	defer client.Close()
	report, err := client.Reform(t.Context(), ReformRequest{DryRun: true})
	require.NoError(t, err)
	require.Equal(t, ReformReport{Epoch: 2, Nodes: []ReformNode{{Name: "a", Lost: true}}}, report)
	report, err = client.Reform(t.Context(), ReformRequest{AcceptLoss: true})
	require.NoError(t, err)
	require.True(t, report.Done)
	require.Equal(t, []ReformRequest{{DryRun: true}, {AcceptLoss: true}}, backend.asked)
	for _, err := range []error{Conflict("c still holds 7 keys"), errors.New("c still holds 7 keys")} {
		backend.err = err
		_, err = client.Reform(t.Context(), ReformRequest{})
		require.ErrorContains(t, err, "answered: c still holds 7 keys")
	}

	stranger := NewClient(serve(t, backend, "hush").URL, "hish")
	defer stranger.Close()
	_, err = stranger.Reform(t.Context(), ReformRequest{})
	require.ErrorIs(t, err, ErrUnauthorized)
	proxy := NewClient(serve(t, &fake{}, "").URL, "")
	defer proxy.Close()
	_, err = proxy.Reform(t.Context(), ReformRequest{})
	require.ErrorContains(t, err, "give the admin address of a node")
}
