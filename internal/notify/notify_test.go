package notify

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/database"
)

func TestClasses(t *testing.T) {
	for _, c := range []struct{ written, shown string }{ // as redis-server 7.0.15 shows them
		{"", ""}, {"KEA", "AKE"}, {"AKEn", "AKE"}, {"Knm", "nKm"}, {"Exe", "xeE"}, {"g$lshzxetdKE", "AKE"}, {"mE$", "$Em"}, {"tdKxx", "xtdK"}, {"Km", "Km"},
	} {
		set, ok := Parse(c.written)
		require.True(t, ok, c.written)
		require.Equal(t, c.shown, set.String(), c.written)
	}
	for _, bad := range []string{"KEy", "a", " ", "K E", "G"} {
		_, ok := Parse(bad)
		require.False(t, ok, bad)
	}
}

// TestList: what is put before a reply is there in its order, and the reply behind it.
func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := List{Wanted: All | Missed}
		var want []string
		for i := range rapid.IntRange(0, 5).Draw(t, "events") {
			class := rapid.SampledFrom([]Class{Generic, Expired, Missed, New}).Draw(t, "class")
			key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
			name := string(rune('a' + i))
			l.Add(class, name, key)
			if class != New && !database.Own(key) {
				want = append(want, name+string(key))
			}
		}
		before, reply := rapid.SliceOf(rapid.Byte()).Draw(t, "before"), rapid.SampledFrom([]string{"", "+OK\r\n", "?PUBLISHED", "$-1\r\n"}).Draw(t, "reply")
		dst := l.Before(append(before[:len(before):len(before)], reply...), len(before))
		require.Equal(t, string(before), string(dst[:len(before)]))
		events, rest := Cut(dst[len(before):])
		require.Equal(t, reply, string(rest))
		var got []string
		for e := range Events(events) {
			got = append(got, string(e.Name)+string(e.Key))
		}
		require.Equal(t, want, got)
	})
}

func TestListIsChanged(t *testing.T) {
	l := List{Wanted: Generic}
	names := func() (all string) {
		events, _ := Cut(l.Before(nil, 0))
		for e := range Events(events) {
			all += string(e.Name)
		}
		return all
	}
	l.Add(Generic, "a", nil)
	first := l.Len()
	l.Add(Generic, "b", nil)
	l.Add(Generic, "c", nil)
	second := l.Len()
	l.Add(Generic, "d", nil)
	l.Swap(first, second)
	require.Equal(t, "adbc", names())
	l.Cut(first)
	require.Equal(t, "a", names())
	var none *List
	none.Add(Generic, "a", nil)
	none.Cut(0)
	none.Swap(0, 0)
	require.Equal(t, "+OK", string(none.Before([]byte("+OK"), 0)))
}

func TestMessages(t *testing.T) {
	e := Event{Generic, []byte("del"), database.IDOf(7, true).Key([]byte("k:1"))}
	require.Equal(t, "__keyspace@7__:k:1", string(e.AppendSpace(nil)))
	require.Equal(t, "__keyevent@7__:del", string(e.AppendEvent(nil)))
	require.Equal(t, "k:1", string(e.ClientsKey()))
}

func TestHeard(t *testing.T) {
	for name, heard := range map[string]bool{"*": true, "__key*": true, "__*": true, "?_key": true, "__keyevent@*__:*": true, `\__k*`: true, "": false, "__k": false, "news*": false, "__keys": true, "[a]": true} {
		require.Equal(t, heard, Heard([]byte(name), true), name)
	}
	require.True(t, Heard([]byte("__keyspace@0__:k"), false))
	require.False(t, Heard([]byte("*"), false))
}

// FuzzCut: what comes from a reply is never trusted further than its bytes.
func FuzzCut(f *testing.F) {
	l := List{Wanted: All}
	l.Add(Generic, "del", []byte("k"))
	f.Add(l.Before([]byte("+OK\r\n"), 0))
	f.Fuzz(func(_ *testing.T, all []byte) {
		events, _ := Cut(all)
		for e := range Events(events) {
			_ = e.AppendEvent(e.AppendSpace(nil))
		}
		for e := range Events(all) {
			_ = e.ClientsKey()
		}
	})
}
