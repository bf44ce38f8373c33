package ring

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseInitial(t *testing.T) {
	in, err := ParseInitial(" n2=10.0.0.2:7000, n1=[::1]:7000,n3=host:7000 ")
	require.NoError(t, err)
	require.Equal(t, Initial{{"n1", "[::1]:7000"}, {"n2", "10.0.0.2:7000"}, {"n3", "host:7000"}}, in)
	require.Equal(t, "n1=[::1]:7000,n2=10.0.0.2:7000,n3=host:7000", in.String())

	c := in.Cluster("c", 3)
	require.NoError(t, c.Validate())
	require.EqualValues(t, 1, c.Epoch)
	m, _ := c.Member(2)
	require.Equal(t, Member{ID: 2, Name: "n2", Peer: "10.0.0.2:7000", Weight: 1}, m)
}

func TestParseInitialNamesTheFault(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "the initial cluster is empty",
		"n1=h:1,":           `"" in the initial cluster is not name=host:port`,
		"n1=h:1,n2":         `"n2" in the initial cluster is not name=host:port`,
		"n1=h:1,=h:2":       `"=h:2" in the initial cluster: the name is empty`,
		"n1=h":              `"n1=h" in the initial cluster: the address is not host:port`,
		"n1=h:70000":        "has no port between 1 and 65535",
		"n1=a=b:1":          "the address has an impossible host",
		"n1=http://h:1":     "the address is not host:port",
		"n/1=h:1":           "the name contains '/'",
		"n1=h:1,n1=h:2":     `names "n1" twice`,
		"n1=h:1,n2=h:1":     `"n1" and "n2" have the same address h:1`,
		"n1=h:1,n 2=h:2":    "the name contains a space",
		"n1=h:1,n2=[::1]:x": "has no port between 1 and 65535",
	} {
		_, err := ParseInitial(text)
		require.ErrorIs(t, err, ErrInvalid, text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestInitialRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, err := ParseInitial(rapid.StringMatching(`[a-c]{1,2}=[hi]:[1-9](,[a-c]{1,2}=[hi]:[1-9]){0,3}`).Draw(t, "text"))
		if err != nil {
			return
		}
		again, err := ParseInitial(in.String())
		require.NoError(t, err)
		require.Equal(t, in, again)
	})
}

func TestDiff(t *testing.T) {
	parse := func(text string) Initial {
		in, err := ParseInitial(text)
		require.NoError(t, err)
		return in
	}
	here := parse("n1=10.0.0.1:7000,n2=10.0.0.2:7000,n3=10.0.0.3:7000")
	require.Empty(t, Diff(here, here))
	require.Empty(t, Diff(nil, nil))
	require.Equal(t,
		"n2 is at 10.0.0.2:7000 here but at 10.0.0.9:7000 there; n3 is only here; n4 is only there",
		Diff(here, parse("n1=10.0.0.1:7000,n2=10.0.0.9:7000,n4=10.0.0.4:7000")))
	require.Equal(t, "n0 is only there", Diff(here, append(parse("n0=h:1"), here...)))
}
