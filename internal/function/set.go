package function

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxCode bounds the bytes of all libraries of a cluster, for every proxy that calls functions has all of them.
const MaxCode = 32 << 20

// Set is the libraries of a cluster. No two of them have the same name, or functions that differ in nothing but case. The nil Set is empty.
type Set struct {
	libraries map[string]*Library
	functions map[string]entry // by their names in small letters
	counted   int              // functions: a library may have f and F, of which the first one is called
	size      int
}

type entry struct {
	library  *Library
	function *Function
}

// NewSet returns a set of libraries of different names. The error says that a function is in two of them.
func NewSet(libraries ...*Library) (*Set, error) {
	s := &Set{libraries: make(map[string]*Library, len(libraries)), functions: make(map[string]entry)}
	for _, l := range libraries {
		s.libraries[l.Name] = l
		s.size += len(l.Code)
		for i := range l.Functions {
			f := &l.Functions[i]
			name := strings.ToLower(f.Name)
			switch there := s.functions[name].library; {
			case there == nil:
				s.functions[name] = entry{l, f}
			case there != l:
				return nil, fmt.Errorf("ERR Function %s already exists", f.Name)
			}
		}
		s.counted += len(l.Functions)
	}
	return s, nil
}

// Library returns a library, nil if there is none of that name.
func (s *Set) Library(name string) *Library {
	if s == nil {
		return nil
	}
	return s.libraries[name]
}

// Function returns a function, and its library; nil if there is none of that name, in any case.
func (s *Set) Function(name string) (*Function, *Library) {
	if s == nil {
		return nil, nil
	}
	e := s.functions[strings.ToLower(name)]
	return e.function, e.library
}

// Libraries returns all libraries, by name.
func (s *Set) Libraries() []*Library {
	if s == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(s.libraries), func(a, b *Library) int { return cmp.Compare(a.Name, b.Name) })
}

// Counts returns how many libraries there are, and how many functions.
func (s *Set) Counts() (libraries, functions int) {
	if s == nil {
		return 0, 0
	}
	return len(s.libraries), s.counted
}

// With returns the set with more libraries, which take the places of those of their names. The error is a reply: two have the same name, a function is in another library, or it is too much.
func (s *Set) With(added ...*Library) (*Set, error) {
	names := make(map[string]bool, len(added))
	for _, l := range added {
		if names[l.Name] {
			return nil, ErrExists(l.Name)
		}
		names[l.Name] = true
	}
	all := slices.DeleteFunc(s.Libraries(), func(l *Library) bool { return names[l.Name] })
	next, err := NewSet(append(all, added...)...)
	if err == nil && next.size > MaxCode {
		return nil, fmt.Errorf("ERR these libraries would be %d bytes together, and at most %d are allowed; nothing was done", next.size, MaxCode)
	}
	return next, err
}

// ErrExists is the error for a name that is taken, as a reply.
func ErrExists(name string) error { return fmt.Errorf("ERR Library '%s' already exists", name) }

// Without returns the set without a library.
func (s *Set) Without(name string) *Set {
	next, _ := NewSet(slices.DeleteFunc(s.Libraries(), func(l *Library) bool { return l.Name == name })...) // of different ones, as before
	return next
}
