package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/loginlimit"
)

func get(t *testing.T, url string, header ...string) (int, string) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

func TestStrangersLearnWhetherAProcessLives(t *testing.T) {
	f := &fake{ready: errors.New("waiting for node b")}
	server := serve(t, f, "hush")
	for path, want := range map[string]string{
		"/healthz": "200 ok\n", "/readyz": "503 not ready: why, it tells those who give the cluster's secret, or a token\n",
		"/metrics": `401 {"error":"the cluster's secret, or a token, is required: Authorization: Bearer SECRET"}` + "\n",
	} {
		code, body := get(t, server.URL+path)
		require.Equal(t, want, fmt.Sprint(code, " ", body))
	}
	for path, want := range map[string]string{"/metrics": "200 quoll_x 1\n", "/readyz": "503 not ready: waiting for node b\n"} {
		code, body := get(t, server.URL+path, "Authorization", "Bearer hush")
		require.Equal(t, want, fmt.Sprint(code, " ", body))
	}
	f.ready = nil
	code, body := get(t, server.URL+"/readyz")
	require.Equal(t, "200 ready\n", fmt.Sprint(code, " ", body))
}

func TestSecretGuardsV1(t *testing.T) {
	server := serve(t, &fake{}, "hush")
	for _, authorization := range []string{"", "hush", "Bearer ", "Bearer hus", "Bearer hush2", "Basic hush"} {
		for _, path := range []string{"/v1/status", "/v1/locate?key=k"} {
			code, body := get(t, server.URL+path, "Authorization", authorization)
			require.Equal(t, http.StatusUnauthorized, code, authorization)
			require.JSONEq(t, `{"error":"the cluster's secret, or a token, is required: Authorization: Bearer SECRET"}`, body)
		}
	}
	code, _ := get(t, server.URL+"/v1/status", "Authorization", "Bearer hush")
	require.Equal(t, http.StatusOK, code)
}

func TestSecretsAreGuessedSlowly(t *testing.T) {
	server := serve(t, &fake{}, "hush")
	refused := 0
	for range 3 * loginlimit.Burst {
		if code, body := get(t, server.URL+"/v1/status", "Authorization", "Bearer guess"); code == http.StatusTooManyRequests {
			require.Contains(t, body, "too many wrong secrets came from this address")
			refused++
		}
	}
	require.NotZero(t, refused)
	code, _ := get(t, server.URL+"/healthz")
	require.Equal(t, http.StatusOK, code)
}

func TestLocateKeys(t *testing.T) {
	f := &fake{}
	server := serve(t, f, "")
	code, body := get(t, server.URL+"/v1/locate?key=a%20b")
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, `{"key":"a b","key64":"YSBi","slot":7,"epoch":0,"home":"a","survives":0,"replicas":[{"node":"a","state":"voting","home":true,
		"preferred":false,"present":false,"tombstone":false,"size":0,"expire_at":null}]}`, body)

	for query, want := range map[string]string{"key=": "", "key64=": "", "key64=_wA=": "\xff\x00", "key64=_wA": "\xff\x00", "key=%ff": "\xff"} {
		f.keys = nil
		code, _ := get(t, server.URL+"/v1/locate?"+query)
		require.Equal(t, http.StatusOK, code, query)
		require.Equal(t, []string{want}, f.keys, query)
	}
	for query, want := range map[string]string{
		"": "give the key as key=KEY", "key=a&key64=YQ": "give the key as key=KEY", "key64=+": "key64 is not base64url",
	} {
		code, body := get(t, server.URL+"/v1/locate?"+query)
		require.Equal(t, http.StatusBadRequest, code, query)
		require.Contains(t, body, want)
	}
}

func TestBackendErrorsAreJSON(t *testing.T) {
	f := &fake{err: errors.New("no node answers")}
	server := serve(t, f, "")
	code, body := get(t, server.URL+"/v1/status")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.JSONEq(t, `{"error":"no node answers"}`, body)

	f.err = fmt.Errorf("asking b: %w", context.DeadlineExceeded)
	code, _ = get(t, server.URL+"/v1/locate?key=k")
	require.Equal(t, http.StatusGatewayTimeout, code)

	code, body = get(t, server.URL+"/nothing")
	require.Equal(t, http.StatusNotFound, code)
	require.Contains(t, body, `{"error":`)
}

func TestFaultsOfAStatus(t *testing.T) {
	s := Status{Formed: true, Nodes: []NodeStatus{{Name: "a", State: Voting}}}
	require.Empty(t, s.Faults())
	s = Status{Nodes: []NodeStatus{{Name: "a", State: LostState, Reason: "restarted"}, {Name: "b", State: Unreachable}}}
	require.Equal(t, []string{
		"the cluster is not formed yet",
		"node a does not vote: lost-state: restarted",
		"node b does not vote: unreachable",
	}, s.Faults())
}
