package acl

import (
	"math"
	"strings"

	"github.com/quolldb/quoll/internal/command"
)

// Description is what ACL GETUSER says of a selector.
type Description struct{ Commands, Keys, Channels string }

// Flags returns the flags of the user, in the order of Redis.
func (u *User) Flags() []string {
	flags := []string{"off"}
	if u.enabled {
		flags[0] = "on"
	}
	if u.noPassword {
		flags = append(flags, "nopass")
	}
	switch u.payload {
	case payloadSkip:
		flags = append(flags, "skip-sanitize-payload")
	case payloadSanitize:
		flags = append(flags, "sanitize-payload")
	}
	return flags
}

// Passwords returns the hashes of the passwords. They must not be changed.
func (u *User) Passwords() []string { return u.passwords }

// Selectors describes the selectors, the root first.
func (u *User) Selectors() []Description {
	list := make([]Description, len(u.selectors))
	for i, s := range u.selectors {
		list[i] = Description{Commands: s.describeCommands(), Keys: strings.Join(s.describeKeys("~"), " "), Channels: strings.Join(s.describeChannels(), " ")}
	}
	return list
}

// Rules describes the user as rules, separated by spaces: what follows its name in ACL LIST. As in Redis that is for people: if quotation marks or parentheses are in a selector, or a pattern is a * that
// was not said as allkeys, it may not make the same user again. Stored does.
func (u *User) Rules() string {
	words := u.login()
	for i, s := range u.selectors {
		described := strings.Join(s.words("~"), " ")
		if i > 0 {
			described = "(" + described + ")"
		}
		words = append(words, described)
	}
	return strings.Join(words, " ")
}

// Stored describes the user as rules, separated by spaces, that make the same user of a new one.
func (u *User) Stored() string {
	words := u.login()
	for i, s := range u.selectors {
		own := s.words("%RW~")
		if i == 0 {
			words = append(words, own...)
			continue
		}
		for k := range own {
			own[k] = quoted(own[k])
		}
		words = append(words, "("+strings.Join(own, " ")+")")
	}
	return strings.Join(words, " ")
}

// login are the rules about logging in.
func (u *User) login() []string {
	words := u.Flags()
	for _, hash := range u.passwords {
		words = append(words, "#"+hash)
	}
	return words
}

// Line describes the user as a line of ACL LIST.
func (u *User) Line() string { return "user " + u.Name + " " + u.Rules() }

// quoted returns a word as it is written in a selector, so that it is one word again.
func quoted(word string) string {
	if !strings.ContainsAny(word, `"'\()`) {
		return word
	}
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(word) + `"`
}

// words describes the selector. both is how the key pattern * begins if it was not said as allkeys: ~* would be that.
func (s *selector) words(both string) []string {
	words := s.describeKeys(both)
	if !s.allChannels {
		words = append(words, "resetchannels")
	}
	words = append(words, s.describeChannels()...)
	return append(words, strings.Split(s.describeCommands(), " ")...)
}

func (s *selector) describeKeys(both string) (words []string) {
	if s.allKeys {
		return []string{"~*"}
	}
	for _, k := range s.keys {
		prefix := "~"
		switch {
		case k.read && k.writes && k.pattern == "*":
			prefix = both
		case !k.writes:
			prefix = "%R~"
		case !k.read:
			prefix = "%W~"
		}
		words = append(words, prefix+k.pattern)
	}
	return words
}

func (s *selector) describeChannels() (words []string) {
	if s.allChannels {
		return []string{"&*"}
	}
	for _, pattern := range s.channels {
		words = append(words, "&"+pattern)
	}
	return words
}

// describeCommands finds rules that permit these commands, as Redis does: +@all or -@all, then categories as long as one has more of what is still to be changed than of
// what must stay, then single commands.
func (s *selector) describeCommands() string {
	var said selector // what the rules so far permit
	said.permitAll(s.future)
	rules := []string{"-@all"}
	if s.future {
		rules[0] = "+@all"
	}
	sign := map[bool]string{true: "+", false: "-"}
	left := selector{commands: s.commands} // as if the categories that were said were not permitted, or forbidden
	var used command.Categories
	for {
		best := left.bestCategory(used, !s.future)
		if best == "" {
			break
		}
		category := command.Category(best)
		said.permitCategory(category, !s.future)
		left.permitCategory(category, s.future)
		used |= category
		rules = append(rules, sign[!s.future]+"@"+best)
	}
	for _, c := range command.Numbered() {
		permitted := s.commands.has(c.Number)
		if permitted != said.commands.has(c.Number) {
			rules = append(rules, sign[permitted]+c.Name)
			said.permit(c, permitted)
		}
		for _, first := range s.firstArgs[c.Number] {
			if !permitted {
				rules = append(rules, "+"+c.Name+"|"+first)
			}
		}
	}
	return strings.Join(rules, " ")
}

// laterThanRedis is the version of commands that Redis 7.0 does not have. They are not counted, so that users are described as there.
const laterThanRedis = "7.2.0"

// bestCategory returns the name of the category that describes best what is permitted or, if adds is not set, forbidden; nothing if there is none but those that were used.
func (s *selector) bestCategory(used command.Categories, adds bool) (best string) {
	fewest, most := math.MaxInt, 0
	for _, name := range command.CategoryNames() {
		category := command.Category(name)
		if used&category != 0 {
			continue
		}
		same, different := 0, 0
		for _, c := range command.Numbered() {
			switch {
			case categories[c.Number]&category == 0 || c.Since == laterThanRedis:
			case s.commands.has(c.Number) == adds:
				same++
			default:
				different++
			}
		}
		if same > different && (different < fewest || different == fewest && same > most) {
			best, fewest, most = name, different, same
		}
	}
	return best
}
