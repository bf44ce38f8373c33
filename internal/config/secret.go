package config

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Secret is a password or a shared secret. Whatever prints it, by any verb, any
// logger or any encoder, prints "(set)", or nothing when there is none.
type Secret string

// Reveal returns the secret itself, for the code that checks it.
func (s Secret) Reveal() string { return string(s) }

// String returns "(set)", or "" for no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(set)"
}

// Format writes what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// secretValue is a Secret as a flag.
type secretValue struct{ secret *Secret }

func (v secretValue) Set(text string) error { *v.secret = Secret(text); return nil }
func (v secretValue) String() string        { return v.secret.String() }
func (v secretValue) Type() string          { return "text" }

// secretFile ties a secret to the setting that names a file with it.
type secretFile struct {
	field  string // of the secret; the file's is field + "-file"
	secret *Secret
	path   string
}

// read takes the secret from its file, if one is named. The line end that editors
// leave is not part of it.
func (s secretFile) read(faults *Faults) {
	if s.path == "" {
		return
	}
	field := s.field + "-file"
	if *s.secret != "" {
		faults.add(field, "%s is given too: give one of the two", s.field)
		return
	}
	text, err := os.ReadFile(s.path)
	if err != nil {
		faults.add(field, "cannot be read: %v", err)
		return
	}
	*s.secret = Secret(strings.TrimRight(string(text), "\r\n"))
	if *s.secret == "" {
		faults.add(field, "%s is empty", s.path)
	}
}
