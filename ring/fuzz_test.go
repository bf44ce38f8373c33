package ring

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzSlotOf compares with the specification: the tag found by eye, the CRC bit by bit.
func FuzzSlotOf(f *testing.F) {
	for _, seed := range []string{"", "foo{bar}zap", "{}", "{}{a}", "{{a}}", "}{", "{a", "a{b}{c}", "123456789"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		hashed := key
		if _, rest, found := bytes.Cut(key, []byte("{")); found {
			if tag, _, found := bytes.Cut(rest, []byte("}")); found && len(tag) > 0 {
				hashed = tag
			}
		}
		crc := uint32(0)
		for _, b := range hashed {
			crc ^= uint32(b) << 8
			for range 8 {
				if crc <<= 1; crc&0x10000 != 0 {
					crc ^= 0x11021
				}
			}
		}
		require.EqualValues(t, crc%Slots, SlotOf(key))
	})
}

// FuzzParseInitial: what is accepted is printed as it is parsed, in any order, and
// makes a valid cluster.
func FuzzParseInitial(f *testing.F) {
	for _, seed := range []string{
		"n1=10.0.0.1:7000,n2=10.0.0.2:7000", " b=[::1]:1 ,a=h:65535", "a=h:1,a=h:2", "a=h:1,b=h:1", "a=h:01,b=h:1", "a=[h]:1,b=h:1",
		"=h:1", "a==h:1", "a=h:0", "a=[fe80::1%eth0]:1", "\u00e9=h:1", "a\u200b=h:1", "a=\u00a0:1", "a=h:1,", strings.Repeat("x", 129) + "=h:1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in, err := ParseInitial(text)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			require.Empty(t, in)
			return
		}
		again, err := ParseInitial(in.String())
		require.NoError(t, err)
		require.Equal(t, in, again)
		parts := strings.Split(text, ",")
		slices.Reverse(parts)
		again, err = ParseInitial(strings.Join(parts, ","))
		require.NoError(t, err)
		require.Equal(t, in, again, "the order does not matter")
		require.Empty(t, Diff(in, again))
		require.NoError(t, in.Cluster("c", 1).Validate())
	})
}

// FuzzCluster: a ring that a peer sends is refused, or can be planned: each slot
// has its replicas, and the order of the members does not matter.
func FuzzCluster(f *testing.F) {
	for _, c := range []Cluster{testCluster(1, 1, 0), testCluster(3, 3, 0), testCluster(5, 3, 2), testCluster(7, 7, 7), testCluster(3, 2, 1), {}} {
		text, err := json.Marshal(c)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"epoch":18446744073709551615,"replicas":2,"members":[{"id":65535,"name":"a","peer":"h:1","weight":1000000},{"id":1,"name":"b","peer":"h:2","weight":1}]}`))
	f.Add([]byte(`{"epoch":1,"replicas":-1,"members":null}`))
	f.Add([]byte(`{"epoch":1,"replicas":1,"members":[{"id":1,"name":"a","peer":"h:1","gossip":"h:1","weight":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var c Cluster
		if json.Unmarshal(text, &c) != nil || len(c.Members) > 20 {
			return // hundreds of members are valid, and take long to plan
		}
		table, err := Plan(c)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			require.Equal(t, err.Error(), c.Validate().Error())
			return
		}
		for slot := range uint16(Slots) {
			replicas := slices.Clone(table.Replicas(slot))
			require.Len(t, replicas, c.Replicas)
			slices.Sort(replicas)
			require.Len(t, slices.Compact(replicas), c.Replicas)
		}
		printed, err := json.Marshal(c)
		require.NoError(t, err)
		var same Cluster
		require.NoError(t, json.Unmarshal(printed, &same))
		slices.Reverse(same.Members)
		require.True(t, c.Equal(same))
		require.Equal(t, c.Digest(), same.Digest())
		again, err := Plan(same)
		require.NoError(t, err)
		require.Equal(t, table.Digest(), again.Digest())
	})
}
