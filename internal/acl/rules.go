package acl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
)

// What is wrong with a rule, in the words of Redis.
var (
	ErrUnknownCommand = errors.New("Unknown command or category name in ACL")
	ErrSyntax         = errors.New("Syntax error")
	ErrAfterAllKeys   = errors.New("Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns")
	ErrAfterChannels  = errors.New("Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels")
	ErrNoSuchPassword = errors.New("The password you are trying to remove from the user does not exist")
	ErrHash           = errors.New("The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters")
	ErrFirstArg       = errors.New("Allowing first-arg of a subcommand is not supported")
)

// With returns the user after some rules, words of ACL SETUSER. If one is wrong the error says which, as Redis words it, and none counts.
func (u *User) With(rules []string) (*User, error) {
	merged, unmatched := mergeSelectors(rules)
	if unmatched >= 0 {
		return nil, fmt.Errorf("Unmatched parenthesis in acl selector starting at '%s'.", cString(rules[unmatched]))
	}
	next := u.clone()
	for _, rule := range merged {
		if err := next.apply(rule); err != nil {
			return nil, fmt.Errorf("Error in ACL SETUSER modifier '%s': %w", cString(rule), err)
		}
	}
	next.finish()
	return next, nil
}

// mergeSelectors puts selectors that are spread over several words together. If a parenthesis is not closed it returns which word opens it, else -1.
func mergeSelectors(words []string) (merged []string, unmatched int) {
	unmatched = -1
	open := ""
	for i, word := range words {
		closes := strings.HasSuffix(word, ")")
		switch {
		case strings.HasPrefix(word, "(") && !closes:
			open, unmatched = word, i
		case unmatched >= 0:
			if open += " " + cString(word); closes {
				merged, unmatched = append(merged, open), -1
			}
		default:
			merged = append(merged, word)
		}
	}
	return merged, unmatched
}

// apply changes a user that nobody else has yet.
func (u *User) apply(rule string) error {
	switch word := strings.ToLower(cString(rule)); {
	case rule == "":
	case word == "on", word == "off":
		u.enabled = word == "on"
	case word == "skip-sanitize-payload":
		u.payload = payloadSkip
	case word == "sanitize-payload":
		u.payload = payloadSanitize
	case word == "nopass", word == "resetpass":
		u.noPassword, u.passwords = word == "nopass", nil
	case rule[0] == '>', rule[0] == '#', rule[0] == '<', rule[0] == '!':
		return u.applyPassword(rule)
	case rule[0] == '(' && rule[len(rule)-1] == ')':
		return u.addSelector(rule[1 : len(rule)-1])
	case word == "clearselectors":
		u.selectors = u.selectors[:1]
	case word == "reset":
		*u = User{Name: u.Name, Life: u.Life, payload: payloadSanitize, selectors: []*selector{new(selector)}}
	default:
		return u.selectors[0].apply(rule)
	}
	return nil
}

// applyPassword adds or removes a password, or its hash.
func (u *User) applyPassword(rule string) error {
	hash := rule[1:]
	switch {
	case rule[0] == '>' || rule[0] == '<':
		hash = HashPassword([]byte(hash))
	case !isHash(hash):
		return ErrHash
	}
	at := slices.Index(u.passwords, hash)
	if adds := rule[0] == '>' || rule[0] == '#'; adds {
		u.noPassword = false
		if at < 0 {
			u.passwords = append(u.passwords, hash)
		}
		return nil
	}
	if at < 0 {
		return ErrNoSuchPassword
	}
	u.passwords = slices.Delete(u.passwords, at, at+1)
	return nil
}

// addSelector adds a selector of the rules between two parentheses. As in Redis there are none if a quotation mark is missing.
func (u *User) addSelector(rules string) error {
	words, balanced := resp.SplitWords([]byte(cString(rules)))
	if !balanced {
		words = nil
	}
	s := new(selector)
	for _, word := range words {
		if err := s.apply(string(word)); err != nil {
			return err
		}
	}
	u.selectors = append(u.selectors, s)
	return nil
}

// apply changes a selector that nobody else has yet.
func (s *selector) apply(rule string) error {
	text := cString(rule)
	switch word := strings.ToLower(text); {
	case word == "allkeys", word == "~*":
		s.allKeys, s.keys = true, nil
	case word == "resetkeys":
		s.allKeys, s.keys = false, nil
	case word == "allchannels", word == "&*":
		s.allChannels, s.channels = true, nil
	case word == "resetchannels":
		s.allChannels, s.channels = false, nil
	case word == "allcommands", word == "+@all":
		s.permitAll(true)
	case word == "nocommands", word == "-@all":
		s.permitAll(false)
	case text == "":
		return ErrSyntax
	case text[0] == '~', text[0] == '%':
		return s.applyKeys(rule)
	case text[0] == '&':
		if s.allChannels {
			return ErrAfterChannels
		}
		if hasSpaces(rule[1:]) {
			return ErrSyntax
		}
		s.permitChannels(rule[1:])
	case text[0] == '+', text[0] == '-':
		return s.applyCommand(text[1:], text[0] == '+')
	default:
		return ErrSyntax
	}
	return nil
}

// applyKeys adds a pattern of keys: ~pattern, %R~pattern, %W~pattern or %RW~pattern.
func (s *selector) applyKeys(rule string) error {
	if s.allKeys {
		return ErrAfterAllKeys
	}
	p := keyPattern{pattern: rule[1:], read: true, writes: true}
	if rule[0] == '%' {
		permissions, pattern, _ := strings.Cut(rule[1:], "~")
		p = keyPattern{pattern: pattern}
		for _, c := range []byte(permissions) {
			switch {
			case (c == 'R' || c == 'r') && !p.read:
				p.read = true
			case (c == 'W' || c == 'w') && !p.writes:
				p.writes = true
			default:
				return ErrSyntax
			}
		}
		if !p.read && !p.writes { // which Redis takes, and ends when it is to show it
			return ErrSyntax
		}
	}
	if hasSpaces(p.pattern) {
		return ErrSyntax
	}
	p.glob = []byte(p.pattern)
	s.permitKeys(p)
	return nil
}

// applyCommand permits or forbids what is named: @category, command, container|subcommand, or to permit command|first-argument.
func (s *selector) applyCommand(name string, on bool) error {
	if category, is := strings.CutPrefix(name, "@"); is {
		c := command.Category(category)
		if c == 0 {
			return ErrUnknownCommand
		}
		s.permitCategory(c, on)
		return nil
	}
	at := strings.LastIndexByte(name, '|')
	if at < 0 || !on {
		c := command.LookupInRules(name)
		if c == nil {
			return ErrUnknownCommand
		}
		s.permit(c, on)
		return nil
	}
	c, first := command.LookupInRules(name[:at]), name[at+1:]
	switch {
	case c == nil:
		return ErrUnknownCommand
	case strings.Contains(c.Name, "|"):
		return ErrFirstArg
	case first == "", hasSpaces(first): // Redis takes spaces, and saves what it cannot load
		return ErrSyntax
	case len(c.InRules()) == 0:
		s.permitWith(c, first)
		return nil
	}
	if c = command.LookupInRules(name); c == nil {
		return ErrUnknownCommand
	}
	s.permit(c, true)
	return nil
}

// cString returns a text as Redis compares and shows many: until the first NUL.
func cString(text string) string {
	text, _, _ = strings.Cut(text, "\x00")
	return text
}

// hasSpaces reports whether a text has what separates words, or NUL.
func hasSpaces(text string) bool { return strings.ContainsAny(text, " \t\n\v\f\r\x00") }

// ValidName reports whether a user may have this name.
func ValidName(name string) bool { return !hasSpaces(name) }

// equalFold compares as strcasecmp does, which knows letters of ASCII only.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
