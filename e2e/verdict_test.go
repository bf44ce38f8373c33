//go:build unix

package e2e

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
	"github.com/quolldb/quoll/internal/artifact"
	"github.com/quolldb/quoll/internal/history"
)

// checkerTime is what the checker may take for one key.
const checkerTime = 20 * time.Second

// requireNothingLost reads back what was acknowledged, through the given proxy, and
// checks the recorded history. All must be well with the cluster. The artefacts of a failing test
// hold the history.
func (l *load) requireNothingLost(proxy string) history.Result {
	l.t.Helper()
	client := connect(l.t, proxy)
	sets, increments, unknown := 0, int64(0), int64(0)
	var wrong []error
	for _, key := range l.journals {
		value := l.text(client, key, "") // if nobody has written to it, or CheckJournal says so
		if err := l.recorder.CheckJournal(key, value); err != nil {
			wrong = append(wrong, err)
		}
	}
	l.readAll(client)
	result := l.recorder.Check(checkerTime)
	if err := result.Err(); err != nil {
		wrong = append(wrong, err)
	}
	if len(wrong) > 0 {
		require.NoError(l.t, l.recorder.Save(artifact.Dir(l.t), result))
		require.NoError(l.t, errors.Join(wrong...))
	}
	for _, c := range l.clients {
		value := served(l.t, func() (int64, error) {
			value, err := client.Get(l.t.Context(), c.counterKey()).Int64()
			if errors.Is(err, redis.Nil) { // none was acknowledged, or the next line says so
				return 0, nil
			}
			return value, err
		})
		c.counter.require(l.t, value, c.counterKey())
		increments, unknown = increments+c.counter.acked, unknown+c.counter.unknown
		for keys := range slices.Chunk(c.written, 200) {
			values := served(l.t, func() ([]any, error) { return client.MGet(l.t.Context(), keys...).Result() })
			for i, value := range values {
				if value != l.own(keys[i]) {
					require.FailNow(l.t, "an acknowledged write is lost", "%s holds %.100q", keys[i], value)
				}
			}
			sets += len(keys)
		}
		for i := range c.churned {
			value := l.text(client, c.churnKey(i), history.Nil)
			require.NoError(l.t, c.churned[i].check(l, value), c.churnKey(i))
		}
	}
	l.t.Logf("%d commands answered; %d acknowledged sets and %d acknowledged increments (%d unknown) are there, and %d of fields of one hash%s; history: %s",
		l.done.Load(), sets, increments, unknown, l.requireFields(client), l.requireElements(client), result)
	return result
}

// readAll reads all keys of the recorded history once more: what was acknowledged is there.
func (l *load) readAll(client *redis.Client) {
	l.t.Helper()
	recorded := l.recorder.Client()
	for _, key := range l.recorder.Keys() {
		if slices.Contains(l.journals[:], key) {
			continue
		}
		call := recorded.Begin(history.Whole(key))
		call.Done(served(l.t, func() (string, error) {
			value, err := client.Do(l.t.Context(), call.Command().Args()...).Result()
			if outcome.Of(err) != outcome.Answered {
				return "", err
			}
			return outcome.Reply(value, err), nil
		}))
	}
}

// text reads a key, or absent if it is not there.
func (l *load) text(client *redis.Client, key, absent string) string {
	l.t.Helper()
	return served(l.t, func() (string, error) {
		value, err := client.Get(l.t.Context(), key).Result()
		if errors.Is(err, redis.Nil) {
			return absent, nil
		}
		return value, err
	})
}

// served reads until there is an answer. All is well with the cluster, but whoever
// reads may be the first to notice.
func served[T any](t testing.TB, read func() (T, error)) (value T) {
	t.Helper()
	var err error
	cluster.Await(t, "a read is answered", func() bool {
		value, err = read()
		return outcome.Of(err) == outcome.Answered
	})
	require.NoError(t, err)
	return value
}

// requireFewErrors checks that no more commands or pipelines failed than were under
// way when something broke, and that all of those began within reaction of that moment. Later, when
// a slot changes its home once more, only a command may fail that others of its pipeline overtook, or a write to a key
// that all write to: the new home has written to it, so that nobody can tell whether the write of the former one is in what is there (R11).
func (l *load) requireFewErrors(broke, reaction time.Duration) {
	l.t.Helper()
	trips, atTheTime, overtaken, untold := map[tripID]bool{}, 0, 0, 0
	for _, f := range l.failures {
		later := f.began >= broke+reaction
		switch {
		case later && outcome.Word(f.err) == "ERR":
			overtaken++
			continue
		case later && outcome.Of(f.err) == outcome.Unknown && l.allWriteTo(f.command):
			untold++
			continue
		}
		if !trips[f.trip] {
			l.t.Logf("error: begun %v after the fault, took %v: %s: %.100s", (f.began - broke).Round(time.Millisecond), f.took.Round(time.Millisecond), f.command, f.err)
			if f.began < broke {
				atTheTime++
			}
		}
		trips[f.trip] = true
		require.Less(l.t, f.began, broke+reaction, "a command that began after the fault was noticed failed: %s: %v", f.command, f.err)
		require.Greater(l.t, f.began+f.took, broke, "a command failed before the fault: %s: %v", f.command, f.err)
		require.Less(l.t, f.took, operationTimeout+slack, "%s: %v", f.command, f.err)
	}
	l.t.Logf("%d errors %v in %d requests, %d of them under way at the instant of the fault; at most %d could be; %d overtaken, %d untold", len(l.failures), l.words(), len(trips), atTheTime, loadClients, overtaken, untold)
	require.LessOrEqual(l.t, untold, loadClients)
	require.LessOrEqual(l.t, len(trips), loadClients)
	require.LessOrEqual(l.t, overtaken, loadClients*longestPipeline)
}

// allWriteTo reports whether a command names a key that all clients write to, all the time.
func (l *load) allWriteTo(command string) bool {
	_, arguments, _ := strings.Cut(command, " ")
	keys := append(l.journals[:], l.fields())
	for _, k := range l.ledgers {
		keys = append(keys, k.key)
	}
	return slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(arguments+" ", key+" ") })
}

// words counts the errors by word.
func (l *load) words() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	words := map[string]int{}
	for _, f := range l.failures {
		words[outcome.Word(f.err)]++
	}
	return words
}

// requireWords checks that clients saw no errors but those of these words.
func (l *load) requireWords(allowed ...string) {
	l.t.Helper()
	for _, f := range l.failures {
		require.Contains(l.t, allowed, outcome.Word(f.err), "%s: %v", f.command, f.err)
	}
}
