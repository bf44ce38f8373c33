package admin

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/suggest"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// An operator says changes of the ring in words: "join n4 weight n3 2" are two. So it is on the command line, and in
// POST /v1/ring/plan?change=join+n4&change=weight+n3+2.

// RingWord is what a word of a change stands for.
type RingWord string

// The words of a change.
const (
	WordVerb     RingWord = "join, leave, replace, weight, rack or replicas"
	WordMember   RingWord = "the name of a member"
	WordWaiting  RingWord = "the name of a node that waits to join"
	WordWeight   RingWord = "a weight"
	WordRack     RingWord = "a rack, - for none"
	WordReplicas RingWord = "a number of replicas"
)

// ringVerbs says what follows each verb. A verb is the change's kind.
var ringVerbs = []struct {
	kind  change.Kind
	words []RingWord
}{
	{change.JoinMember, []RingWord{WordWaiting}},
	{change.LeaveMember, []RingWord{WordMember}},
	{change.ReplaceMember, []RingWord{WordMember, WordWaiting}},
	{change.SetWeight, []RingWord{WordMember, WordWeight}},
	{change.SetRack, []RingWord{WordMember, WordRack}},
	{change.SetReplicas, []RingWord{WordReplicas}},
}

// RingVerbs are the words that a change begins with.
func RingVerbs() []string {
	var verbs []string
	for _, v := range ringVerbs {
		verbs = append(verbs, v.kind.String())
	}
	return verbs
}

// wordsAfter returns what follows a verb.
func wordsAfter(verb string) ([]RingWord, error) {
	for _, v := range ringVerbs {
		if v.kind.String() == verb {
			return v.words, nil
		}
	}
	return nil, fmt.Errorf("%q is no change of the ring: %s%s", verb, WordVerb, suggest.DidYouMean(verb, "", RingVerbs()))
}

// NextRingWord says what comes after some words of changes; a wrong verb counts as one that nothing follows.
func NextRingWord(words []string) RingWord {
	for len(words) > 0 {
		follow, _ := wordsAfter(words[0])
		if words = words[1:]; len(words) < len(follow) {
			return follow[len(words)]
		}
		words = words[len(follow):]
	}
	return WordVerb
}

// ParseChanges takes words apart into changes. Whether there are such members it does not know.
func ParseChanges(words []string) ([]change.Staged, error) {
	var changes []change.Staged
	for len(words) > 0 {
		verb := words[0]
		follow, err := wordsAfter(verb)
		if err != nil {
			return nil, err
		}
		if len(words) <= len(follow) {
			return nil, fmt.Errorf("%s: %s is missing", strings.Join(words, " "), follow[len(words)-1])
		}
		c, err := changeOf(verb, follow, words[1:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(words[:1+len(follow)], " "), err)
		}
		changes, words = append(changes, c), words[1+len(follow):]
	}
	return changes, nil
}

func changeOf(verb string, follow []RingWord, words []string) (change.Staged, error) {
	var c change.Staged
	_ = c.Kind.UnmarshalText([]byte(verb)) // a word that it does not know is no verb
	for i, kind := range follow {
		word := words[i]
		switch kind {
		case WordWeight, WordReplicas:
			most := ring.MaxWeight
			if kind == WordReplicas {
				most = ring.MaxReplicas
			}
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > most {
				return c, fmt.Errorf("%q is not %s: from 1 to %d", word, kind, most)
			}
			c.Number = n
		case WordRack:
			if c.By = word; word == "-" {
				c.By = ""
			}
		default:
			if c.Name == "" {
				c.Name = word
			} else {
				c.By = word
			}
			if word == "" || len(word) > ring.MaxName {
				return c, fmt.Errorf("%q is not %s", word, kind)
			}
		}
	}
	return c, nil
}

// SayChange is a change in these words.
func SayChange(s change.Staged) string {
	if s.Kind == change.SetRack {
		return fmt.Sprintf("%s %s %s", s.Kind, s.Name, cmp.Or(s.By, "-"))
	}
	return s.String()
}
