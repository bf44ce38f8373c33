//go:build unix

package differential

import "strings"

// expectReplies returns the steps of a round that are answered, in order, and makes sure
// that the last one is: a round that CLIENT REPLY leaves silent gets a CLIENT REPLY ON. Behind
// QUIT the end of the connection is what is due.
func expectReplies(round *script) script {
	var due script
	mode := answering
	for _, s := range *round {
		if len(s.args) == 0 {
			continue
		}
		answered, after := mode.run(s.args)
		if answered {
			due = append(due, s)
		}
		if strings.EqualFold(s.args[0], "QUIT") {
			return append(due, step{conn: s.conn, form: array, args: []string{"(the connection's end)"}})
		}
		mode = after
	}
	if last := (*round)[len(*round)-1]; mode != answering || len(due) == 0 {
		on := step{conn: last.conn, form: array, args: []string{"CLIENT", "REPLY", "ON"}, joined: true}
		*round = append((*round)[:len(*round):len(*round)], on)
		due = append(due, on)
	}
	return due
}

// replyMode is what CLIENT REPLY has set.
type replyMode int

const (
	answering replyMode = iota
	// skipping leaves out the reply to the next command.
	skipping
	silenced
)

// next is the mode behind a command that does not change it.
func (m replyMode) next() replyMode {
	if m == skipping {
		return answering
	}
	return m
}

// run says whether a command is answered, and the mode behind it.
func (m replyMode) run(args []string) (answered bool, after replyMode) {
	if len(args) == 1 && strings.EqualFold(args[0], "RESET") {
		return true, answering
	}
	if len(args) == 3 && strings.EqualFold(args[0], "CLIENT") && strings.EqualFold(args[1], "REPLY") {
		switch strings.ToUpper(args[2]) {
		case "ON":
			return true, answering
		case "OFF":
			return false, silenced
		case "SKIP":
			if m == silenced {
				return false, silenced
			}
			return false, skipping
		}
	}
	return m == answering, m.next()
}
