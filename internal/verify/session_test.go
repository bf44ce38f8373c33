package verify

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/history"
)

// fakeSession is a session with a fake. It remembers how often that had written what it watches.
type fakeSession struct {
	*fake
	address int
	watched map[string]int
}

func (f *fake) hold(_ context.Context, address int) (session, error) {
	return &fakeSession{f, address, map[string]int{}}, nil
}

func (s *fakeSession) end() {}

func (s *fakeSession) do(ctx context.Context, args ...any) (answer, error) {
	reply, err := s.fake.do(ctx, s.address, args...)
	if err == nil && args[0] == "WATCH" {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, key := range args[1:] {
			s.watched[fmt.Sprint(key)] = s.writes[fmt.Sprint(key)]
		}
	}
	return reply, err
}

func (s *fakeSession) exec(_ context.Context, commands ...[]any) ([]answer, error) {
	var all [][]string
	for _, command := range commands {
		var words []string
		for _, arg := range command {
			words = append(words, fmt.Sprint(arg))
		}
		all = append(all, words)
	}
	time.Sleep(rand.N(time.Millisecond))
	defer time.Sleep(rand.N(time.Millisecond))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	watched := maps.Clone(s.watched)
	clear(s.watched)
	if s.lieInExec != nil {
		if replies, err, done := s.lieInExec(s.fake, s.address, watched, all); done {
			return replies, err
		}
	}
	return s.transaction(watched, all), nil
}

// transaction executes commands, or nothing if a watched key has been written.
func (f *fake) transaction(watched map[string]int, commands [][]string) (replies []answer) {
	for key, writes := range watched {
		if f.writes[key] != writes {
			return nil
		}
	}
	for _, words := range commands {
		reply, err := f.execute(words)
		if err != nil {
			reply = answer{text: err.Error()}
		}
		replies = append(replies, reply)
	}
	return replies
}

// executeOnSeveral is execute for commands of several keys, and of amounts; it reports false for others.
func (f *fake) executeOnSeveral(words []string) (reply answer, done bool, err error) {
	key := words[1]
	switch words[0] {
	case "WATCH":
		return answer{text: "OK"}, true, nil
	case "MGET":
		var values []string
		for _, key := range words[1:] {
			value, live := f.values[key]
			if !live {
				value = history.Nil
			}
			values = append(values, value)
		}
		return answer{text: strings.Join(values, " ")}, true, nil
	case "SUNION", "SINTER":
		elements := strings.Fields(f.values[key])
		for _, key := range words[2:] {
			other := strings.Fields(f.values[key])
			if words[0] == "SUNION" {
				elements = append(elements, other...)
				continue
			}
			elements = slices.DeleteFunc(elements, func(member string) bool { return !slices.Contains(other, member) })
		}
		slices.Sort(elements)
		return answer{text: strings.Join(slices.Compact(elements), " ")}, true, nil
	case "MSET":
		for pair := range slices.Chunk(words[1:], 2) {
			f.put(pair[0], pair[1])
		}
		return answer{text: "OK"}, true, nil
	case "INCRBY", "DECRBY":
		n, _ := strconv.Atoi(f.values[key])
		by, _ := strconv.Atoi(words[2])
		if words[0] == "DECRBY" {
			by = -by
		}
		f.put(key, strconv.Itoa(n+by))
		return answer{text: f.values[key]}, true, nil
	case "EVAL": // there is one script
		to, from, number := words[3], words[4], words[5]
		before, live := f.values[number]
		for _, command := range [][]string{{"INCRBY", to, words[6]}, {"DECRBY", from, words[6]}} {
			_, _, _ = f.executeOnSeveral(command)
		}
		f.put(number, words[7])
		return answer{text: before, null: !live}, true, nil
	case "RENAME":
		value, live := f.values[key]
		if !live {
			return answer{null: true}, true, refusal(noSuchKey)
		}
		f.put(key, "")
		f.put(words[2], value)
		return answer{text: "OK"}, true, nil
	case "SMOVE", "LMOVE":
		from, to := strings.Fields(f.values[key]), strings.Fields(f.values[words[2]])
		if key == words[2] || words[0] == "LMOVE" && len(words) < 5 {
			break // of duels
		}
		i := slices.Index(from, words[3])
		if words[0] == "LMOVE" {
			i = 0
		}
		if i < 0 || len(from) == 0 {
			return answer{text: "0", null: words[0] == "LMOVE"}, true, nil
		}
		reply = answer{text: from[i]}
		if words[0] == "SMOVE" {
			reply.text = "1"
		}
		to = append(to, from[i])
		f.put(key, strings.Join(slices.Delete(from, i, i+1), " "))
		f.put(words[2], strings.Join(to, " "))
		return reply, true, nil
	}
	return answer{}, false, nil
}

// put writes a value; there is no empty one.
func (f *fake) put(key, value string) {
	if f.old[key] = f.values[key]; value == "" {
		delete(f.values, key)
		return
	}
	f.values[key] = value
}
