package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	// Field is the setting as a flag or the file names it, without dashes, or the
	// unknown name that somebody gave.
	Field string
	// Reason says what is wrong and what to do, in one line.
	Reason string
}

// String returns "field: reason" in one line: a name that somebody gave may be anything.
func (f Fault) String() string {
	field := f.Field
	if strings.ContainsFunc(field, func(r rune) bool { return !unicode.IsPrint(r) }) {
		field = strconv.Quote(field)
	}
	return field + ": " + f.Reason
}

// Faults is everything that is wrong with a configuration, as an error with one
// line per fault. The command line answers it with exit code 2.
type Faults []Fault

// Error returns one line per fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

func (f *Faults) add(field, format string, args ...any) {
	*f = append(*f, Fault{Field: field, Reason: fmt.Sprintf(format, args...)})
}

// has reports whether the field is already known to be wrong.
func (f Faults) has(field string) bool {
	for _, fault := range f {
		if fault.Field == field {
			return true
		}
	}
	return false
}

// err returns f as an error, nil when there is no fault.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}
