package session

import (
	"bytes"
	"errors"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/proxy/route"
)

// changeTries is how often a change of the libraries is tried while others change them, too.
const changeTries = 100

var errChangeTries = route.Refuse("ERR others change functions all the time; nothing was done. Try again")

// changeFunctions changes the libraries: change says which libraries are to be there in the end, or why nothing shall be done, as a reply. It is asked again if they have changed meanwhile.
func (s *Session) changeFunctions(change func(have *function.Set) (want *function.Set, err error)) error {
	for range changeTries {
		have, version, err := s.readLibraries()
		if err != nil {
			return err
		}
		want, err := change(have)
		if err != nil {
			var refused *route.ReplyError
			if !errors.As(err, &refused) {
				err = route.Refuse(err.Error())
			}
			return err
		}
		commands := changes(have, want)
		if len(commands) == 0 {
			return nil
		}
		reply, err := s.ownBatch(true, version, commands...)
		s.service.functions.forget()
		if err != nil {
			return err
		}
		if isArray(reply) {
			return nil
		}
	}
	return errChangeTries
}

// changes returns what makes other libraries of those that are there.
func changes(have, want *function.Set) (commands []command.Request) {
	gone := [][]byte{[]byte("HDEL"), libraries}
	for _, l := range have.Libraries() {
		if want.Library(l.Name) == nil {
			gone = append(gone, []byte(l.Name))
		}
	}
	if len(gone) > 2 {
		commands = append(commands, command.Request{Op: command.OpHDel, Args: gone})
	}
	set := [][]byte{[]byte("HSET"), libraries}
	for _, l := range want.Libraries() {
		if old := have.Library(l.Name); old == nil || !bytes.Equal(old.Code, l.Code) {
			set = append(set, []byte(l.Name), l.Encode())
		}
	}
	if len(set) > 2 {
		commands = append(commands, command.Request{Op: command.OpHSet, Args: set})
	}
	return commands
}
