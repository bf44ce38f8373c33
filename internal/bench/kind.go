package bench

import "strings"

// kind is a kind of command that is measured.
type kind int

const (
	set kind = iota
	get
	hset
	hget
	hgetall
	hincrby
	hdel
	hadd // HSET of a field that is not there, which hdel then removes
	kinds
)

// kindTable says what is to be known of each.
var kindTable = [kinds]struct {
	op     string // in reports
	writes bool
	hash   bool // its key holds a hash
}{
	set:     {"SET", true, false},
	get:     {"GET", false, false},
	hset:    {"HSET", true, true},
	hget:    {"HGET", false, true},
	hgetall: {"HGETALL", false, true},
	hincrby: {"HINCRBY", true, true},
	hdel:    {"HDEL", true, true},
	hadd:    {"HSET new", true, true},
}

func (k kind) op() string   { return kindTable[k].op }
func (k kind) writes() bool { return kindTable[k].writes }
func (k kind) hash() bool   { return kindTable[k].hash }

// commandNames are the names of all commands that can be asked for, in lower case.
func commandNames() (names []string) {
	for k := range hadd {
		names = append(names, strings.ToLower(k.op()))
	}
	return names
}

// kindOf returns the kind that a name stands for, in any case.
func kindOf(name string) (k kind, ok bool) {
	for k := range hadd {
		if strings.EqualFold(name, k.op()) {
			return k, true
		}
	}
	return 0, false
}
