//go:build faults

package admin

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/wire"
)

// faults asks for /v1/faults with the secret "hush".
func faults(t *testing.T, method, url, body string) (answer string) {
	t.Cleanup(func() {
		wire.InjectFaults(0, nil)
		clock.Shift(0)
	})
	request, err := http.NewRequestWithContext(t.Context(), method, url+"/v1/faults", strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer hush")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return fmt.Sprintf("%d %s", response.StatusCode, text)
}

func TestFaultsAreReplacedAndShown(t *testing.T) {
	url := serve(t, &fake{}, "hush").URL
	const none = `200 {"seed":0,"rules":[]}` + "\n"
	require.Equal(t, none, faults(t, http.MethodGet, url, ""))

	const counters = `"counters":{"passed":0,"dropped":0,"duplicated":0,"reordered":0,"delayed":0,"held_bytes":0}`
	const first = `"peer":"b","role":"node","cut":true,"delay":"20ms","jitter":"30ms","drop":0.05,"duplicate":0.25,"reorder":1`
	answer := faults(t, http.MethodPut, url, `{"seed":7,"rules":[{`+first+`},{"peer":"*","drop":1}]}`)
	require.Equal(t, `200 {"seed":7,"rules":[{`+first+`,`+counters+`},{"peer":"*","drop":1,`+counters+"}]}\n", answer)
	require.Equal(t, answer, faults(t, http.MethodGet, url, ""))
	seed, rules := wire.InjectedFaults()
	require.EqualValues(t, 7, seed)
	require.Equal(t, wire.FaultRule{
		Peer: "b", Role: wire.RoleNode, Cut: true, Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond,
		Drop: 0.05, Duplicate: 0.25, Reorder: 1,
	}, rules[0].FaultRule)

	require.Equal(t, none, faults(t, http.MethodPut, url, `{"rules":[]}`))
}

func TestClockIsSetWrongAndRight(t *testing.T) {
	url := serve(t, &fake{}, "hush").URL
	for text, want := range map[string]time.Duration{"1h": time.Hour, "-90s": -90 * time.Second} {
		answer := faults(t, http.MethodPut, url, `{"rules":[],"clock":"`+text+`"}`)
		require.Equal(t, `200 {"seed":0,"clock":"`+want.String()+`","rules":[]}`+"\n", answer)
		require.Equal(t, answer, faults(t, http.MethodGet, url, ""))
		require.InDelta(t, time.Now().Add(want).UnixMilli(), clock.UnixMilli(), 10_000)
	}
	require.Equal(t, `200 {"seed":0,"rules":[]}`+"\n", faults(t, http.MethodPut, url, `{"rules":[]}`))
	require.Zero(t, clock.Shifted())
}

func TestFaultsThatMakeNoSenseNameTheField(t *testing.T) {
	url := serve(t, &fake{}, "hush").URL
	const rule = `{"seed":1,"rules":[{"peer":"a","cut":true}]}`
	faults(t, http.MethodPut, url, rule)
	before := faults(t, http.MethodGet, url, "")
	for body, want := range map[string]string{
		``:                                    "the body is not a list of faults in JSON: it is empty",
		`{"rules":[`:                          "the body is not a list of faults in JSON: unexpected EOF",
		`rules`:                               "the body is not a list of faults in JSON: invalid character 'r' looking for beginning of value",
		rule + `{}`:                           "the body is not a list of faults in JSON: there is something behind it",
		`{}`:                                  "rules: is required; [] heals everything",
		`{"rules":null}`:                      "rules: is required; [] heals everything",
		`{"rules":[],"sed":1}`:                `sed: there is no such field`,
		`{"rules":[],"seed":-1}`:              "seed: number -1 is not of type uint64",
		`{"rules":[],"clock":"late"}`:         `clock: "late" is not a time such as 1h or -90s`,
		`{"rules":[],"clock":"-99999h"}`:      `clock: -99999h is more than 10000h0m0s`,
		`{"rules":[],"seed":"one"}`:           "seed: string is not of type uint64",
		`{"rules":[{"peer":"a","drop":"x"}]}`: "rules.drop: string is not of type float64",
		`{"rules":[{"peer":"a","cut":true},{"peer":"a","drp":0.1}]}`:       "drp: there is no such field",
		`{"rules":[{"cut":true}]}`:                                         `rules[0].peer: is required: a name, or "*" for any`,
		`{"rules":[{"peer":"a","cut":true},{"peer":"a","role":"root"}]}`:   `rules[1].role: "root" is neither "node" nor "proxy" nor "" for any`,
		`{"rules":[{"peer":"a","drop":1.01}]}`:                             "rules[0].drop: 1.01 is not a probability from 0 to 1",
		`{"rules":[{"peer":"a","duplicate":-0.1}]}`:                        "rules[0].duplicate: -0.1 is not a probability from 0 to 1",
		`{"rules":[{"peer":"a","reorder":2}]}`:                             "rules[0].reorder: 2 is not a probability from 0 to 1",
		`{"rules":[{"peer":"a","delay":"-1ms"}]}`:                          "rules[0].delay: -1ms is not from 0s to 1m0s",
		`{"rules":[{"peer":"a","jitter":"61s"}]}`:                          "rules[0].jitter: 61s is not from 0s to 1m0s",
		`{"rules":[{"peer":"a","delay":"20"}]}`:                            `rules[0].delay: "20" is not a time such as 20ms`,
		`{"rules":[{"peer":"a","role":"node"}]}`:                           "rules[0]: nothing is to be done: give cut, delay, jitter, drop, duplicate or reorder",
		`{"rules":[{"peer":"a","cut":false,"drop":0,"delay":"0s"}]}`:       "rules[0]: nothing is to be done: give cut, delay, jitter, drop, duplicate or reorder",
		`{"rules":[{"peer":"a","cut":true,"counters":{"passed":1}}]}`:      "rules[0].counters: are counted here and cannot be set",
		`{"rules":[{"peer":"` + strings.Repeat("a", maxFaultPlan) + `"}]}`: "the body is not a list of faults in JSON: http: request body too large",
	} {
		answer, refused := strings.CutPrefix(faults(t, http.MethodPut, url, body), "400 ")
		require.True(t, refused, body)
		require.JSONEq(t, fmt.Sprintf(`{"error":%q}`, want), answer, body)
		require.Equal(t, before, faults(t, http.MethodGet, url, ""), "the rules stay as they were")
	}
}

func TestFaultsNeedTheSecret(t *testing.T) {
	for _, method := range []string{http.MethodPut, http.MethodGet} {
		require.Contains(t, faults(t, method, serve(t, &fake{}, "other").URL, `{"rules":[{"peer":"a","cut":true}]}`), "401 ")
		require.Equal(t,
			`403 {"error":"faults are injected only into a cluster with a secret: start this process with --secret-file"}`+"\n",
			faults(t, method, serve(t, &fake{}, "").URL, `{"rules":[{"peer":"a","cut":true}]}`))
	}
	_, rules := wire.InjectedFaults()
	require.Empty(t, rules)
}
