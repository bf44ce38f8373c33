//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quolldb/quoll/e2e/outcome"
	"github.com/quolldb/quoll/internal/history"
)

// churned is what a client knows of a key that it alone overwrites and deletes, with
// numbered commands.
type churned struct {
	sent    int   // the number of the last command
	acked   int   // of the last one that was acknowledged; 0: none
	unknown []int // those of unknown outcome, which may take effect at any time, or never
}

// deletes reports whether a command is a deletion.
func deletes(number int) bool { return number%5 == 0 }

// own is the value of a key that is written once.
func (l *load) own(key string) string {
	return key + strings.Repeat("."+key, l.cfg.size/(len(key)+1))
}

func (c *loadClient) churnKey(i int) string { return fmt.Sprint(c.load.name, ":churn:", c.id, ":", i) }

// churnValue is what the command of a number writes.
func (l *load) churnValue(number int) string { return l.own(fmt.Sprint("v", number)) }

// churn executes the next command on one of the keys.
func (c *loadClient) churn() {
	i := rand.IntN(len(c.churned))
	k := &c.churned[i]
	k.sent++
	command := []any{"set", c.churnKey(i), c.load.churnValue(k.sent)}
	if deletes(k.sent) {
		command = []any{"del", c.churnKey(i)}
	}
	c.do([][]any{command}, func(_ int, _ string, how outcome.Outcome) {
		switch how {
		case outcome.Answered:
			k.acked = k.sent
		case outcome.Unknown:
			k.unknown = append(k.unknown, k.sent)
		}
	})
}

// check compares what the key holds with what it may hold.
func (k *churned) check(l *load, value string) error {
	may := append(slices.Clone(k.unknown), k.acked)
	for _, number := range may {
		holds := l.churnValue(number)
		if deletes(number) { // 0 too: nothing was written
			holds = history.Nil
		}
		if value == holds {
			return nil
		}
	}
	return fmt.Errorf("holds %.40q..., but only the commands of these numbers may be the last one: %v", value, may)
}
