package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"maps"
	"slices"
)

// DefaultName is the name of the user that every connection begins with.
const DefaultName = "default"

// User is a user. It does not change: With returns another one.
type User struct {
	// Name has no spaces.
	Name string
	// Life tells a user from one of the same name that was deleted before. The zero Life is that of who was always there.
	Life uint64

	enabled, noPassword bool
	payload             payloadFlag
	passwords           []string // their SHA-256, in hex
	// selectors are what the user may do: one of them has to permit a command. The first is the root, which the rules outside parentheses are about.
	selectors    []*selector
	unrestricted bool
}

// payloadFlag is what a user says of the payloads of RESTORE, which Quoll checks always.
type payloadFlag uint8

const (
	payloadUnsaid payloadFlag = iota
	payloadSkip
	payloadSanitize
)

// New returns a user that may do nothing, not even log in.
func New(name string) *User { return &User{Name: name, selectors: []*selector{new(selector)}} }

// NewDefault returns the user that every connection begins with: it may do everything. Without a password nobody has to give one.
func NewDefault(password string) *User {
	rules := []string{"+@all", "~*", "&*", "on", "nopass"}
	if password != "" {
		rules[len(rules)-1] = ">" + password
	}
	u, err := New(DefaultName).With(rules)
	if err != nil {
		panic(err) // these rules are right
	}
	return u
}

// Enabled reports whether the user may log in.
func (u *User) Enabled() bool { return u.enabled }

// NoPassword reports whether any password will do.
func (u *User) NoPassword() bool { return u.noPassword }

// Open reports whether who connects is this user without saying a password, if it is the default one.
func (u *User) Open() bool { return u.enabled && u.noPassword }

// Unrestricted reports whether the user may execute every command on every key and channel, so that nothing needs to be checked.
func (u *User) Unrestricted() bool { return u.unrestricted }

// Accepts reports whether the user may log in with a password. It takes the same time whatever the password.
func (u *User) Accepts(password []byte) bool {
	if !u.enabled {
		return false
	}
	if u.noPassword {
		return true
	}
	given, same := []byte(HashPassword(password)), 0
	for _, hash := range u.passwords {
		same |= subtle.ConstantTimeCompare(given, []byte(hash))
	}
	return same == 1
}

// HashPassword returns what is kept of a password: its SHA-256, in hex.
func HashPassword(password []byte) string {
	sum := sha256.Sum256(password)
	return hex.EncodeToString(sum[:])
}

// isHash reports whether a text is what HashPassword returns.
func isHash(text string) bool {
	if len(text) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'f') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// clone returns a copy that may be changed.
func (u *User) clone() *User {
	other := *u
	other.passwords = slices.Clone(u.passwords)
	other.selectors = make([]*selector, len(u.selectors))
	for i, s := range u.selectors {
		other.selectors[i] = s.clone()
	}
	return &other
}

// finish works out what follows from the rules. Users that may do the same are equal.
func (u *User) finish() {
	if len(u.passwords) == 0 {
		u.passwords = nil
	}
	for _, s := range u.selectors {
		s.allCommands = s.future && s.commands == everything
		maps.DeleteFunc(s.firstArgs, func(number int, _ []string) bool { return s.commands.has(number) })
		if len(s.firstArgs) == 0 {
			s.firstArgs = nil
		}
	}
	u.unrestricted = slices.ContainsFunc(u.selectors, func(s *selector) bool { return s.allCommands && s.allKeys && s.allChannels })
}
