package ring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testCluster has n members n001, n002, ... of weight 1, in racks in turn if there are any.
func testCluster(n, replicas, racks int) Cluster {
	c := Cluster{Name: "test", Epoch: 1, Replicas: replicas}
	for i := range n {
		m := Member{ID: uint16(i + 1), Name: fmt.Sprintf("n%03d", i+1), Peer: fmt.Sprintf("10.0.0.%d:7000", i+1), Weight: 1}
		if racks > 0 {
			m.Rack = fmt.Sprintf("rack%d", i%racks)
		}
		c.Members = append(c.Members, m)
	}
	return c
}

func without(c Cluster, i int) Cluster {
	c.Members = slices.Delete(slices.Clone(c.Members), i, i+1)
	return c
}

func TestClusterLookup(t *testing.T) {
	c := testCluster(3, 3, 0)
	m, ok := c.Member(2)
	require.True(t, ok)
	require.Equal(t, "n002", m.Name)
	m, ok = c.ByName("n003")
	require.True(t, ok)
	require.EqualValues(t, 3, m.ID)
	_, ok = c.Member(4)
	require.False(t, ok)
	_, ok = c.ByName("")
	require.False(t, ok)
}

func TestClusterEqualAndDigest(t *testing.T) {
	c := testCluster(3, 3, 0)
	reversed := testCluster(3, 3, 0)
	slices.Reverse(reversed.Members)
	require.True(t, c.Equal(reversed))
	require.Equal(t, c.Digest(), reversed.Digest())

	for name, change := range map[string]func(*Cluster){
		"name":       func(c *Cluster) { c.Name = "other" },
		"epoch":      func(c *Cluster) { c.Epoch++ },
		"replicas":   func(c *Cluster) { c.Replicas-- },
		"members":    func(c *Cluster) { c.Members = c.Members[:2] },
		"id":         func(c *Cluster) { c.Members[0].ID = 9 },
		"peer":       func(c *Cluster) { c.Members[0].Peer = "x:1" },
		"gossip":     func(c *Cluster) { c.Members[0].Gossip = "x:1" },
		"rack":       func(c *Cluster) { c.Members[0].Rack = "x" },
		"weight":     func(c *Cluster) { c.Members[0].Weight = 2 },
		"generation": func(c *Cluster) { c.Members[0].Generation = 2 },
	} {
		d := testCluster(3, 3, 0)
		change(&d)
		require.False(t, c.Equal(d), name)
		require.NotEqual(t, c.Digest(), d.Digest(), name)
	}
}

func TestClusterJSON(t *testing.T) {
	c := testCluster(3, 2, 2)
	text, err := json.Marshal(c)
	require.NoError(t, err)
	var d Cluster
	require.NoError(t, json.Unmarshal(text, &d))
	require.Equal(t, c, d)
}

func TestValidate(t *testing.T) {
	require.NoError(t, testCluster(3, 3, 0).Validate())
	require.NoError(t, testCluster(MaxMembers, MaxReplicas, 0).Validate())

	for want, change := range map[string]func(*Cluster){
		`the epoch is 0`:                           func(c *Cluster) { c.Epoch = 0 },
		`0 replicas, want 1 to 7`:                  func(c *Cluster) { c.Replicas = 0 },
		`8 replicas, want 1 to 7`:                  func(c *Cluster) { c.Replicas = 8 },
		`4 replicas need as many members`:          func(c *Cluster) { c.Replicas = 4 },
		`1001 members, at most 1000`:               func(c *Cluster) { *c = testCluster(1001, 3, 0) },
		`cluster name "a b" contains a space`:      func(c *Cluster) { c.Name = "a b" },
		`member name "" is empty`:                  func(c *Cluster) { c.Members[0].Name = "" },
		`member name "a,b" contains ','`:           func(c *Cluster) { c.Members[0].Name = "a,b" },
		`member name "a\x00" contains a space or`:  func(c *Cluster) { c.Members[0].Name = "a\x00" },
		`member name "a\xff" contains a space or`:  func(c *Cluster) { c.Members[0].Name = "a\xff" },
		`is longer than 128 bytes`:                 func(c *Cluster) { c.Members[0].Name = strings.Repeat("x", 129) },
		`two members have the name "n002"`:         func(c *Cluster) { c.Members[0].Name = "n002" },
		`"n001" and "n002" have the same ID 1`:     func(c *Cluster) { c.Members[1].ID = 1 },
		`member "n001" has ID 0`:                   func(c *Cluster) { c.Members[0].ID = 0 },
		`have the same address 10.0.0.1:7000`:      func(c *Cluster) { c.Members[1].Gossip = "10.0.0.1:7000" },
		`peer address "" is not host:port`:         func(c *Cluster) { c.Members[0].Peer = "" },
		`peer address ":1" has no host`:            func(c *Cluster) { c.Members[0].Peer = ":1" },
		`gossip address "h:0" has no port between`: func(c *Cluster) { c.Members[0].Gossip = "h:0" },
		`rack "a=b" contains '='`:                  func(c *Cluster) { c.Members[0].Rack = "a=b" },
		`has weight 0, want 1 to 1000000`:          func(c *Cluster) { c.Members[0].Weight = 0 },
		`has weight -1`:                            func(c *Cluster) { c.Members[0].Weight = -1 },
	} {
		c := testCluster(3, 3, 0)
		change(&c)
		err := c.Validate()
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, want)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	c := testCluster(3, 9, 0)
	c.Members[1].Weight = 0
	require.Len(t, strings.Split(c.Validate().Error(), "\n"), 2)
}
