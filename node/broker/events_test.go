package broker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/protocol"
)

func asks(text string) []byte {
	classes, _ := notify.Parse(text)
	return interest(0, uint64(classes), protocol.OfEvents, "")
}

// events returns a list as it is told.
func events(all ...notify.Event) []byte {
	l := notify.List{Wanted: ^notify.Class(0)}
	for _, e := range all {
		l.Add(e.Class, string(e.Name), e.Key)
	}
	told, _ := notify.Cut(l.Before(nil, 0))
	return told
}

// TestEventsAreWanted as long as somebody asks for their class, and somebody, who may be another one, may hear of them.
func TestEventsAreWanted(t *testing.T) {
	b := New(new(metrics.Node))
	var one, two fakeConn
	s1, s2 := b.Session(&one), b.Session(&two)
	wanted := func(text string) {
		t.Helper()
		require.Equal(t, text, b.Wanted().String())
	}
	require.NoError(t, s1.Interest(asks("AKE")))
	wanted("")
	require.NoError(t, s2.Interest(interest(0, 1, protocol.OfPattern, "news*")))
	require.NoError(t, s2.Interest(interest(0, 1, protocol.OfShardChannel, "__keyspace@0__:k")))
	wanted("")
	require.NoError(t, s2.Interest(interest(0, 1, protocol.OfChannel, "__keyspace@0__:k")))
	wanted("A")
	require.NoError(t, s1.Interest(asks("Kg")))
	wanted("g")
	require.NoError(t, s2.Interest(asks("Em$")))
	wanted("g$m")
	require.NoError(t, s2.Interest(asks("x"))) // on no channel
	wanted("g")
	require.NoError(t, s2.Interest(interest(0, 0, protocol.OfChannel, "__keyspace@0__:k")))
	wanted("")
	require.NoError(t, s2.Interest(interest(0, 1, protocol.OfPattern, "*")))
	wanted("g")
	s1.Drop()
	wanted("")
	require.Zero(t, testing.AllocsPerRun(100, func() { b.Wanted() }))
}

func TestEventsAreTold(t *testing.T) {
	b := New(new(metrics.Node))
	var one, two, other fakeConn
	s1, s2, s3 := b.Session(&one), b.Session(&two), b.Session(&other)
	require.NoError(t, s1.Interest(asks("Kgm")))
	require.NoError(t, s3.Interest(asks("E$")))
	told := events(notify.Event{Class: notify.String, Name: []byte("set"), Key: []byte("k")}, notify.Event{Class: notify.Generic, Name: []byte("expire"), Key: []byte("k")},
		notify.Event{Class: notify.Hash, Name: []byte("hset"), Key: []byte("h")})
	b.Tell(told)
	require.Empty(t, one.take())
	require.NoError(t, s2.Interest(interest(0, 1, protocol.OfPattern, "__key*")))
	require.NoError(t, s1.Interest(interest(0, 1, protocol.OfChannel, "__keyevent@0__:set")))
	b.Tell(told)
	require.Equal(t, []string{"__keyevent@0__:set=k"}, one.take())
	require.Equal(t, []string{"__keyevent@0__:set=k", "__keyspace@0__:k=expire"}, two.take(), "each class on the channels on which somebody asks for it")
	require.Empty(t, other.take())

	long := strings.Repeat("k", protocol.MaxName)
	require.NoError(t, s3.Interest(asks("KEg")))
	b.Tell(events(notify.Event{Class: notify.Generic, Name: []byte("del"), Key: []byte(long)}))
	require.Equal(t, []string{"__keyevent@0__:del=" + long[:20]}, two.take(), "no channel has so long a name")
}
