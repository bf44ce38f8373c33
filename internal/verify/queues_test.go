package verify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
)

// asks sends a command to the server itself.
type asks func(args ...any) (answer, error)

// liar is a server that is asked through something that lies. Lie is asked before a command is sent; it may answer instead, and send others.
type liar struct {
	store
	calls atomic.Int64
	later sync.WaitGroup
	lie   func(ctx context.Context, args []any) (reply answer, err error, done bool)
}

func (l *liar) do(ctx context.Context, address int, args ...any) (answer, error) {
	if l.calls.Add(1) > 500 && strings.Contains(fmt.Sprint(args...), "queue:") && args[0] != "DEL" {
		if reply, err, done := l.lie(ctx, args); done {
			return reply, err
		}
	}
	return l.store.do(ctx, address, args...)
}

// queuesOf runs clients with queues on a server that lies, or not.
func queuesOf(t *testing.T, change func(l *liar, ask asks)) Report {
	t.Helper()
	opt := Options{Addresses: []string{redistest.Start(t)}, For: 1500 * time.Millisecond, Clients: 8, Queues: 2}
	s := newServers(opt)
	defer s.close()
	l := &liar{store: s}
	l.lie = func(context.Context, []any) (answer, error, bool) { return answer{}, nil, false }
	if change != nil {
		change(l, func(args ...any) (answer, error) { return s.do(context.Background(), 0, args...) })
	}
	r := newRun(opt, l)
	require.NoError(t, r.probe(t.Context(), 0))
	r.patience = 3 * time.Second
	report := r.run(t.Context())
	l.later.Wait()
	return report
}

func TestQueuesOfARedisServerAreNeverBlamed(t *testing.T) {
	t.Parallel()
	report := queuesOf(t, nil)
	require.False(t, report.Violated(), "%+v", report)
	require.Zero(t, report.Refused+report.Unknown+int64(report.Unread+report.Left), "%+v", report)
	require.Greater(t, report.Queues.Pushed, int64(500))
	require.Positive(t, report.Queues.Again)
	require.Zero(t, report.Queues.Excused)
	for _, kind := range kindsOfQueues {
		require.Greater(t, report.Queues.Taken[kind.name], int64(100), "%+v", report.Queues)
	}
}

// TestQueuesOfABrokenButHonestServerAreNeverBlamed: it refuses, and does not say what it did, which may happen later.
func TestQueuesOfABrokenButHonestServerAreNeverBlamed(t *testing.T) {
	t.Parallel()
	report := queuesOf(t, func(l *liar, ask asks) {
		l.lie = func(_ context.Context, args []any) (answer, error, bool) {
			switch {
			case rand.IntN(30) == 0:
				return answer{null: true}, errRefused, true
			case rand.IntN(60) == 0:
				return answer{null: true}, errUnknown, true
			case rand.IntN(30) == 0:
				wait := rand.N(time.Second)
				l.later.Go(func() {
					time.Sleep(wait) // the lie itself
					_, _ = ask(args...)
				})
				return answer{null: true}, errUnknown, true
			}
			return answer{}, nil, false
		}
	})
	require.False(t, report.Violated(), "%+v", report)
	require.Positive(t, report.Refused)
	require.Positive(t, report.Queues.Unknown)
	require.Positive(t, report.Queues.Excused)
	require.Zero(t, report.Unread)
}

// TestLiesAboutQueuesAreFoundByTheirName: each server lies once in a while.
func TestLiesAboutQueuesAreFoundByTheirName(t *testing.T) {
	for name, tc := range map[string]struct {
		command string
		lie     func(ask asks, args []any) (answer, error)
		want    Class
		text    string
	}{
		"a push is acknowledged and not done": {"RPUSH", func(asks, []any) (answer, error) {
			return answer{text: "1"}, nil
		}, Lost, "nobody got it"},
		"a push is refused and done": {"RPUSH", func(ask asks, args []any) (answer, error) {
			_, _ = ask(args...)
			return answer{null: true}, errRefused
		}, Wrong, "its push was refused"},
		"a push is done twice": {"RPUSH", func(ask asks, args []any) (answer, error) {
			_, _ = ask(args...)
			return ask(args...)
		}, Wrong, "twice"},
		"what is popped is kept": {"BLPOP", func(ask asks, args []any) (answer, error) {
			_, err := ask(args...)
			return answer{null: true}, err
		}, Lost, "no command of unknown outcome"},
		"the last is popped": {"BLPOP", func(ask asks, args []any) (answer, error) {
			return ask(append([]any{"BRPOP"}, args[1:]...)...)
		}, Wrong, "disorder"},
		"an element is invented": {"BLPOP", func(_ asks, args []any) (answer, error) {
			return answer{text: fmt.Sprint(args[1], " ghost")}, nil
		}, Wrong, "nobody pushed it"},
		"there is nothing": {"BLPOP", func(asks, []any) (answer, error) {
			return answer{null: true}, nil
		}, Stale, "there is nothing"},
		"BLMOVE loses what it moves": {"BLMOVE", func(ask asks, args []any) (answer, error) {
			_, err := ask("LPOP", args[1])
			return answer{null: true}, err
		}, Lost, "neither in the queue nor with anybody"},
		"BLMOVE leaves what it moves": {"BLMOVE", func(ask asks, args []any) (answer, error) {
			reply, err := ask(args...)
			if err == nil && !reply.null {
				_, err = ask("LPUSH", args[1], reply.text)
			}
			return reply, err
		}, Wrong, "twice"},
		"LREM is acknowledged and not done": {"LREM", func(asks, []any) (answer, error) {
			return answer{text: "1"}, nil
		}, Wrong, "saw it afterwards"},
		"LREM does not find it": {"LREM", func(ask asks, args []any) (answer, error) {
			_, err := ask(args...)
			return answer{text: "0"}, err
		}, Lost, "did not find it any more"},
		"an entry is acknowledged and not added": {"XADD", func(asks, []any) (answer, error) {
			return answer{text: "1-1"}, nil
		}, Lost, "nobody got it"},
		"a new entry is not pending": {"XREADGROUP", func(ask asks, args []any) (answer, error) {
			_, err := ask(append([]any{"XREADGROUP", "GROUP", args[2], args[3], "NOACK"}, args[4:]...)...)
			return answer{null: true}, err
		}, Lost, "neither in the queue nor with anybody"},
		"an entry is handed out as new again": {"XREADGROUP", func(ask asks, args []any) (answer, error) {
			_, err := ask("XGROUP", "SETID", args[len(args)-2], args[2], "0")
			return answer{null: true}, err
		}, Wrong, ", twice: "},
		"XACK is acknowledged and not done": {"XACK", func(asks, []any) (answer, error) {
			return answer{text: "1"}, nil
		}, Wrong, "saw it afterwards"},
		"the group is lost": {"XREADGROUP", func(ask asks, args []any) (answer, error) {
			_, _ = ask("XGROUP", "DESTROY", args[len(args)-2], args[2])
			return ask(args...)
		}, Lost, "NOGROUP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var report Report
			counts := map[Class]int{}
			for range 3 { // a lie may make no difference: of a queue with one element the last is the first
				var lies atomic.Int64
				report = queuesOf(t, func(l *liar, ask asks) {
					l.lie = func(_ context.Context, args []any) (answer, error, bool) {
						if args[0] != tc.command || l.calls.Load()%20 > 3 || lies.Add(1) > 12 {
							return answer{}, nil, false
						}
						reply, err := tc.lie(ask, args)
						return reply, err, true
					}
				})
				if counts = map[Class]int{Lost: report.Lost, Stale: report.Stale, Wrong: report.Wrong}; counts[tc.want] > 0 {
					break
				}
			}
			require.Positive(t, counts[tc.want], "%+v", report)
			found := false
			for _, finding := range report.Findings {
				found = found || finding.Class == tc.want && strings.Contains(finding.Text, tc.text)
			}
			require.True(t, found, "%+v", report.Findings)
		})
	}
}

// TestQueuesOfAServerThatStaysAway: it ends all the same, and says what could not be read.
func TestQueuesOfAServerThatStaysAway(t *testing.T) {
	t.Parallel()
	report := queuesOf(t, func(l *liar, _ asks) {
		l.lie = func(context.Context, []any) (answer, error, bool) {
			return answer{null: true}, errRefused, l.calls.Load() > 1000
		}
	})
	require.False(t, report.Violated(), "%+v", report)
	require.Equal(t, 2*len(kindsOfQueues), report.Unread)
	require.Contains(t, report.LastError, errRefused.Error())
}

// TestQueuesAreReplaced when enough was pushed, and judged meanwhile.
func TestQueuesAreReplaced(t *testing.T) {
	t.Parallel()
	q := newQueues(&run{prefix: Prefix + "00000000:", opt: Options{Queues: 1}})
	l := q.newLine(0, 1)
	q.places[0] = l
	for range queuePushes {
		q.pushed(0, l)
	}
	require.Nil(t, q.places[0])
	require.Len(t, q.ended, 1)
}
