package verify

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inBank reports whether a command is one of those on the keys of a group, of a kind.
func inBank(words []string, command, kind string) bool {
	return words[0] == command && strings.Contains(words[1], "{bank:") && strings.Contains(words[1], "}:"+kind+":")
}

// execLie lies about transactions that transfer something, of which it gets the answers, and what all keys hold if it is done and if it is not.
type execLie func(f *fake, commands [][]string, replies []answer, before map[string]string) ([]answer, error)

// without undoes those commands of a transaction that begin with one of some texts.
func without(starts ...string) execLie {
	return func(f *fake, commands [][]string, replies []answer, before map[string]string) ([]answer, error) {
		for _, words := range commands {
			for _, start := range starts {
				if key := words[1]; strings.HasPrefix(words[0]+" "+key[strings.Index(key, "}")+1:], start) {
					f.values[key] = before[key]
				}
			}
		}
		return replies, nil
	}
}

// TestLiesAboutTransactionsAreFound: each server lies from the thousandth command on, once in a while.
func TestLiesAboutTransactionsAreFound(t *testing.T) {
	for name, tc := range map[string]struct {
		lie  execLie
		want Class
		text string
	}{
		"half of it is not done":     {without("DECRBY"), Wrong, "the total of its accounts is"},
		"the other half is not done": {without("INCRBY"), Wrong, "the total of its accounts is"},
		"only the number is written": {without("INCRBY", "DECRBY", "SET :account"), Wrong, "as the series say"},
		"the number is not written":  {without("SET :number"), Wrong, "as the series say"},
		"it is acknowledged and not done": {func(f *fake, _ [][]string, replies []answer, before map[string]string) ([]answer, error) {
			f.values = before
			return replies, nil
		}, Lost, ""},
		"it is refused and done":       {func(*fake, [][]string, []answer, map[string]string) ([]answer, error) { return nil, errRefused }, Wrong, ""},
		"it is answered null and done": {func(*fake, [][]string, []answer, map[string]string) ([]answer, error) { return nil, nil }, Wrong, ""},
		"it is answered in part": {func(_ *fake, _ [][]string, replies []answer, _ map[string]string) ([]answer, error) {
			return replies[:2], nil
		}, Wrong, "was answered with 2 values"},
		"a member is taken and not added":    {withoutTarget("SMOVE"), Wrong, "its sets hold"},
		"an element is taken and not pushed": {withoutTarget("LMOVE"), Wrong, "its lists hold"},
		"a key is renamed and still there":   {withoutSource("RENAME"), Wrong, "its seats hold"},
		"it is done in two steps":            {inTwoSteps, Wrong, ""},
		"it is done twice": {func(f *fake, commands [][]string, replies []answer, _ map[string]string) ([]answer, error) {
			f.transaction(nil, commands)
			return replies, nil
		}, Wrong, "as the series say"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.lieInExec = func(f *fake, _ int, watched map[string]int, commands [][]string) ([]answer, error, bool) {
				if f.calls < 1000 || f.calls%100 > 20 || commands[len(commands)-1][0] != "SET" {
					return nil, nil, false
				}
				before := maps.Clone(f.values)
				replies := f.transaction(watched, commands)
				if replies == nil {
					return nil, nil, true
				}
				replies, err := tc.lie(f, commands, replies, before)
				return replies, err, true
			}
			requireFound(t, f, tc.want, tc.text)
		})
	}
}

// requireFound runs clients against a fake, and wants findings of a class with a text about groups, one of those between bars, and about nothing else.
func requireFound(t *testing.T, f *fake, want Class, text string) {
	report := verify(t, f, func(o *Options) { o.Transfers, o.For = true, time.Second })
	found := 0
	for _, finding := range report.Findings {
		require.Contains(t, finding.Key, "{bank:", "%+v", finding)
		if finding.Class == want && slices.ContainsFunc(strings.Split(text, "|"), func(one string) bool { return strings.Contains(finding.Text, one) }) {
			found++
		}
	}
	require.Positive(t, found, "%+v", report)
}

func withoutTarget(name string) execLie {
	return func(f *fake, commands [][]string, replies []answer, before map[string]string) ([]answer, error) {
		for _, words := range commands {
			if words[0] == name {
				f.put(words[2], before[words[2]])
			}
		}
		return replies, nil
	}
}

func withoutSource(name string) execLie {
	return func(f *fake, commands [][]string, replies []answer, before map[string]string) ([]answer, error) {
		for _, words := range commands {
			if words[0] == name {
				f.put(words[1], before[words[1]])
			}
		}
		return replies, nil
	}
}

// inTwoSteps does the last two commands a moment later.
func inTwoSteps(f *fake, commands [][]string, replies []answer, before map[string]string) ([]answer, error) {
	f.values = before
	half := len(commands) - 2
	f.transaction(nil, commands[:half])
	time.AfterFunc(2*time.Millisecond, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.transaction(nil, commands[half:])
	})
	return replies, nil
}

// TestLiesAboutGroupsAreFound: the same of commands of several keys, and of what is read.
func TestLiesAboutGroupsAreFound(t *testing.T) {
	past := map[string]string{}
	for name, tc := range map[string]struct {
		lie  func(f *fake, address int, words []string) (answer, error, bool)
		want Class
		text string
	}{
		"RENAME copies": {func(f *fake, _ int, words []string) (answer, error, bool) {
			if value, live := f.values[words[1]]; live && inBank(words, "RENAME", "seat") {
				f.values[words[2]] = value
				return answer{text: "OK"}, nil, true
			}
			return answer{}, nil, false
		}, Wrong, "its seats hold"},
		"RENAME loses": {func(f *fake, _ int, words []string) (answer, error, bool) {
			if inBank(words, "RENAME", "seat") {
				delete(f.values, words[1])
				return answer{text: "OK"}, nil, true
			}
			return answer{}, nil, false
		}, Wrong, "its seats hold"},
		"RENAME does nothing": {func(f *fake, _ int, words []string) (answer, error, bool) {
			return answer{text: "OK"}, nil, inBank(words, "RENAME", "step")
		}, Lost, "walker"},
		"SMOVE does nothing": {func(f *fake, _ int, words []string) (answer, error, bool) {
			return count(true), nil, inBank(words, "SMOVE", "set") && words[3] == walking
		}, Lost, "walker"},
		"LMOVE does nothing": {func(f *fake, _ int, words []string) (answer, error, bool) {
			return answer{text: walking}, nil, inBank(words, "LMOVE", "lane")
		}, Lost, "walker"},
		"SMOVE loses": {func(f *fake, _ int, words []string) (answer, error, bool) {
			if inBank(words, "SMOVE", "set") {
				_, _ = f.execute([]string{"SREM", words[1], words[3]})
				return count(true), nil, true
			}
			return answer{}, nil, false
		}, Wrong, "its sets hold"},
		"LMOVE copies": {func(f *fake, _ int, words []string) (answer, error, bool) {
			if from := f.values[words[1]]; from != "" && inBank(words, "LMOVE", "list") {
				_, _ = f.execute(words)
				f.values[words[1]] = from
				return answer{text: from}, nil, true
			}
			return answer{}, nil, false
		}, Wrong, "its lists hold|which is not there"}, // the next LMOVE finds it, if it comes before a reading
		"MGET reads at several moments": {func(f *fake, _ int, words []string) (answer, error, bool) {
			if !inBank(words, "MGET", "account") {
				return answer{}, nil, false
			}
			now := f.values
			f.values = maps.Clone(now)
			for _, key := range words[1:4] {
				if old, found := past[key]; found {
					f.values[key] = old
				}
			}
			reply, err := f.execute(words)
			f.values = now
			return reply, err, true
		}, Wrong, "the total of its accounts is"},
		"SUNION reads at several moments": {atSeveralMoments(&past, "SUNION"), Wrong, "its sets hold"},
		"SINTER reads at several moments": {atSeveralMoments(&past, "SINTER"), Wrong, "in two of its sets at once"},
		"one address has a group as it was before": {func(f *fake, address int, words []string) (answer, error, bool) {
			if address != 1 || !inBank(words, "MGET", "account") || past[words[1]] == "" {
				return answer{}, nil, false
			}
			now := f.values
			f.values = past
			reply, err := f.execute(words)
			f.values = now
			return reply, err, true
		}, Stale, "it was read as it was before; of series"},
		"a group is forgotten": {func(f *fake, _ int, words []string) (answer, error, bool) {
			if inBank(words, "MGET", "account") {
				maps.DeleteFunc(f.values, func(key, _ string) bool { return strings.Contains(key, "{bank:") })
			}
			return answer{}, nil, false
		}, Lost, ""},
	} {
		t.Run(name, func(t *testing.T) {
			clear(past)
			f := newFake()
			f.lie = func(f *fake, address int, words []string) (answer, error, bool) {
				if f.calls%300 == 0 {
					past = maps.Clone(f.values)
				}
				if f.calls < 1000 || f.calls%100 > 20 {
					return answer{}, nil, false
				}
				return tc.lie(f, address, words)
			}
			requireFound(t, f, tc.want, tc.text)
		})
	}
}

// atSeveralMoments reads the first of some sets as it was in the past.
func atSeveralMoments(past *map[string]string, name string) func(f *fake, address int, words []string) (answer, error, bool) {
	return func(f *fake, _ int, words []string) (answer, error, bool) {
		old, found := (*past)[words[1]]
		if !found || !inBank(words, name, "set") {
			return answer{}, nil, false
		}
		now := f.values
		f.values = maps.Clone(now)
		f.values[words[1]] = old
		reply, err := f.execute(words)
		f.values = now
		return reply, err, true
	}
}

// TestIgnoredWatchIsFound: transactions are done although watched keys have changed.
func TestIgnoredWatchIsFound(t *testing.T) {
	f := newFake()
	f.lieInExec = func(f *fake, _ int, _ map[string]int, commands [][]string) ([]answer, error, bool) {
		return f.transaction(nil, commands), nil, true
	}
	requireFound(t, f, Wrong, "")
}
