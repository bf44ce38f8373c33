package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/history"
)

// executeOnElements is execute for commands on lists, sets and sorted sets; it reports false for others. The value of their key is all elements, separated by spaces,
// of a sorted set each with its score behind it, in order.
func (f *fake) executeOnElements(words []string) (reply answer, done bool) {
	key, before, args := words[1], f.values[words[1]], words[2:]
	elements := strings.Fields(before)
	switch words[0] {
	case "LRANGE", "SMEMBERS", "ZRANGE":
		return answer{text: before}, true
	case "ZSCORE":
		score, found := history.Hash(before).Get(args[0])
		return answer{text: score, null: !found}, true
	case "SISMEMBER":
		return count(slices.Contains(elements, args[0])), true
	case "RPUSH":
		elements = append(elements, args...)
		reply.text = strconv.Itoa(len(elements))
	case "LPUSH":
		slices.Reverse(args)
		elements = append(args, elements...)
		reply.text = strconv.Itoa(len(elements))
	case "SADD":
		args = slices.DeleteFunc(args, func(member string) bool { return slices.Contains(elements, member) })
		elements = append(elements, args...)
		reply.text = strconv.Itoa(len(args))
	case "LREM", "SREM":
		i := slices.Index(elements, args[len(args)-1])
		if reply = count(i >= 0); i >= 0 {
			elements = slices.Delete(elements, i, i+1)
		}
	case "LPOP", "SPOP", "RPOP", "LMOVE":
		if reply.null = len(elements) == 0; reply.null {
			break
		}
		at := 0
		if words[0] == "RPOP" {
			at = len(elements) - 1
		}
		reply.text = elements[at]
		if elements = slices.Delete(elements, at, at+1); words[0] == "LMOVE" {
			elements = append(elements, reply.text)
		}
	case "ZPOPMIN":
		n := min(2, len(elements))
		reply.text, elements = strings.Join(elements[:n], " "), elements[n:]
	case "ZADD", "ZINCRBY", "ZREM":
		reply, elements = changeScores(words[0], elements, args)
	default:
		return answer{}, false
	}
	if f.values[key] = strings.Join(elements, " "); len(elements) == 0 {
		delete(f.values, key)
	}
	f.old[key] = before
	return reply, true
}

// changeScores does what a command does to the members of a sorted set.
func changeScores(name string, elements, args []string) (reply answer, _ []string) {
	member, set := args[len(args)-1], history.Hash(strings.Join(elements, " "))
	score, found := set.Get(member)
	switch name {
	case "ZREM":
		reply, set = count(found), set.Delete(member)
	case "ZADD":
		reply, set = count(!found), set.Set(member, args[0])
	default:
		n, _ := strconv.Atoi(score) // 0 of history.Nil
		reply.text = strconv.Itoa(n + 1)
		set = set.Set(member, reply.text)
	}
	pairs := slices.Collect(slices.Chunk(strings.Fields(string(set)), 2))
	slices.SortFunc(pairs, func(a, b []string) int {
		m, _ := strconv.Atoi(a[1])
		n, _ := strconv.Atoi(b[1])
		if m != n {
			return m - n
		}
		return strings.Compare(a[0], b[0])
	})
	return reply, slices.Concat(pairs...)
}

// count is the answer of a command that counts one.
func count(one bool) answer {
	if one {
		return answer{text: "1"}
	}
	return answer{text: "0"}
}
