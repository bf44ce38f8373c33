package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/route"
)

// configCommand is CONFIG, https://redis.io/commands/config/: of this proxy, until it ends unless CONFIG REWRITE writes it down, but for what is shared (shared.go).
var configCommand = container{"CONFIG", []subcommand{
	{"GET", -3, configGet, []string{"GET <pattern>", "Return parameters matching the glob-like <pattern> and their values."}},
	{"SET", -4, configSet, []string{"SET <directive> <value>", "Set the configuration <directive> to <value>."}},
	{"RESETSTAT", 2, configResetStat, []string{"RESETSTAT", "Reset statistics reported by the INFO command."}},
	{"REWRITE", 2, configRewrite, []string{"REWRITE", "Rewrite the configuration file."}},
}}

// configGet is CONFIG GET pattern [pattern ...]. As in Redis a name that is no pattern is shown as it was written.
func configGet(s *Session, dst []byte, args [][]byte) []byte {
	var found [][2]string // names and values
	for _, pattern := range args[2:] {
		exact := !bytes.ContainsAny(pattern, "[*?")
		for i := range parameters {
			p := &parameters[i]
			name := p.name
			switch {
			case !exact && !scan.Match(bytes.ToLower(pattern), []byte(name)), exact && !is(pattern, name):
				continue
			case exact:
				name = string(pattern)
			}
			if !slices.ContainsFunc(found, func(other [2]string) bool { return strings.EqualFold(other[0], name) }) {
				found = append(found, [2]string{name, p.get(s)})
			}
		}
	}
	dst = resp.AppendMap(dst, len(found), s.resp3)
	for _, pair := range found {
		dst = resp.AppendBulk(resp.AppendBulk(dst, pair[0]), pair[1])
	}
	return dst
}

// configSet is CONFIG SET name value [name value ...]: all of them, or none.
func configSet(s *Session, dst []byte, args [][]byte) []byte {
	if len(args)%2 != 0 {
		return route.AppendReply(dst, errSyntax)
	}
	set, err := chosenParameters(args[2:])
	if err != nil {
		return route.AppendReply(dst, err)
	}
	var changes []func()
	for i, p := range set {
		change, err := p.change(s, string(args[2*i+3]))
		if err != nil {
			return route.AppendReply(dst, errConfigSet(p.name, err.Error()))
		}
		changes = append(changes, change)
	}
	if err := s.service.share(s.conn.Server().Context(), shares(args[2:])); err != nil {
		return route.AppendReply(dst, err)
	}
	config := &s.service.config
	config.setting.Lock() // one after the other, for some change a part of something
	defer config.setting.Unlock()
	for i, change := range changes {
		change()
		if set[i].set != nil && sharedParameters[set[i].name] == nil {
			config.changed[set[i].name] = true
		}
		s.audit("CONFIG SET", "parameter", set[i].name, "value", string(args[2*i+3]))
	}
	s.service.look.noteFrom()
	return append(dst, resp.OK...)
}

// chosenParameters returns the parameters that pairs of name and value are about.
func chosenParameters(pairs [][]byte) (set []*parameter, err error) {
	for i := 0; i < len(pairs); i += 2 {
		written, name := shown(pairs[i]), strings.ToLower(string(pairs[i]))
		at := slices.IndexFunc(parameters, func(p parameter) bool { return p.name == name })
		switch {
		case immutableParameters[name]:
			return nil, errConfigSet(string(written), "can't set immutable config")
		case at < 0 && foreignParameters[name]:
			return nil, errConfigSet(string(written), "Quoll has no such parameter; nothing was changed")
		case at < 0:
			return nil, route.Refuse(fmt.Sprintf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", written))
		case slices.Contains(set, &parameters[at]):
			return nil, errConfigSet(string(written), "duplicate parameter")
		}
		set = append(set, &parameters[at])
	}
	return set, nil
}

func errConfigSet(name, why string) error {
	return route.Refuse(fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", name, why))
}

func configResetStat(s *Session, dst []byte, _ [][]byte) []byte {
	s.service.stats.reset()
	s.conn.Server().Stats().Reset()
	return append(dst, resp.OK...)
}
