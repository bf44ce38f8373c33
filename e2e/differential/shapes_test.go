//go:build unix

package differential

import (
	"maps"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/command"
)

// sameKind allows replies that are of one kind, for these commands.
func sameKind(names ...string) func(exchange, value, value) bool {
	return func(x exchange, redis, quoll value) bool {
		return slices.Contains(names, x.name()) && redis.kind == quoll.kind && redis.kind != '-'
	}
}

// sameClients allows the descriptions of clients that agree in what a proxy knows. A list of
// all clients may have one that is just going: there this connection must agree.
func sameClients(x exchange, redis, quoll value) bool {
	if x.name() != "CLIENT INFO" && x.name() != "CLIENT LIST" || redis.kind != quoll.kind || redis.kind == '-' {
		return false
	}
	theirs, mine := clients(redis.text), clients(quoll.text)
	me, meThere := mine[x.quollID], theirs[x.redisID]
	if me != nil && meThere != nil && me["cmd"] != meThere["cmd"] || (me == nil) != (meThere == nil) {
		return false
	}
	for _, field := range []string{"name", "flags", "db", "sub", "psub", "ssub", "multi", "user", "redir", "resp"} {
		if me[field] != meThere[field] {
			return false
		}
	}
	all := len(x.args) < 4 || strings.EqualFold(x.args[2], "TYPE")
	return all || len(theirs) == len(mine)
}

// clients takes CLIENT LIST apart: the fields of each client by its id.
func clients(text string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for line := range strings.Lines(strings.TrimPrefix(text, "txt:")) {
		fields := map[string]string{}
		for _, field := range strings.Fields(line) {
			name, content, _ := strings.Cut(field, "=")
			fields[name] = content
		}
		all[fields["id"]] = fields
	}
	return all
}

// sameTable allows COMMAND to know less commands, and less about them.
func sameTable(x exchange, redis, quoll value) bool {
	if x.name() == "COMMAND GETKEYS" {
		return strings.Contains(quoll.text, "is not supported yet by Quoll")
	}
	if redis.kind != quoll.kind {
		return false
	}
	switch x.name() {
	case "COMMAND COUNT":
		return redis.kind == ':'
	case "COMMAND LIST":
		return slices.Equal(supported(redis.texts()), supported(quoll.texts()))
	case "COMMAND DOCS":
		return isSubset(slices.Collect(maps.Keys(quoll.pairs())), slices.Collect(maps.Keys(redis.pairs())))
	case "COMMAND":
		return redis.kind == '*' && len(quoll.list) < len(redis.list)
	case "COMMAND INFO":
		return len(x.args) == 2 && len(quoll.list) < len(redis.list) || sameEntries(redis, quoll)
	}
	return false
}

// later are what a later Redis has, and Quoll.
var later = []string{"client|no-touch", "client|setinfo", "waitaof"}

// supported returns those of these commands and subcommands that both servers have, sorted.
func supported(names []string) []string {
	var both []string
	for _, name := range names {
		container, sub, isSub := strings.Cut(name, "|")
		cmd := command.Lookup([]byte(container))
		if isSub && cmd != nil {
			cmd = cmd.Subcommand([]byte(sub))
		}
		if cmd != nil && cmd.Route != command.RouteUnsupported && !slices.Contains(later, name) {
			both = append(both, name)
		}
	}
	slices.Sort(both)
	return both
}

// sameEntries reports whether each entry of COMMAND INFO is missing or about the same
// command.
func sameEntries(redis, quoll value) bool {
	return slices.EqualFunc(redis.list, quoll.list, func(theirs, mine value) bool {
		return mine.kind == '_' || len(mine.list) == len(theirs.list) && mine.list[0].text == theirs.list[0].text
	})
}

// ownLimits are parameters whose values are Quoll's.
var ownLimits = []string{"client-output-buffer-limit", "maxmemory", "maxmemory-clients", "proto-max-bulk-len"}

// sameParameters allows CONFIG GET to know less parameters. Those that it knows have the
// same value as here, but for Quoll's own limits.
func sameParameters(x exchange, redis, quoll value) bool {
	if x.name() != "CONFIG GET" || redis.kind != quoll.kind || redis.kind == '-' {
		return false
	}
	theirs := redis.pairs()
	for name, mine := range quoll.pairs() {
		switch content, found := theirs[name]; {
		case !found:
			return false
		case slices.Contains(ownLimits, strings.ToLower(name)):
		case content != mine:
			return false
		}
	}
	return true
}

func isSubset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}
