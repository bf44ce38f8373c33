package verify

import (
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/resp"
)

// exec sends commands as one transaction, in one piece with MULTI and EXEC, or one after the other, and waits for the answers until a time. They are nil if EXEC
// was answered null: a watched key had changed. Sent reports whether EXEC may have arrived; before that nothing is done. A refusal, and an error that wraps
// errUnknown, leave the connection as it was; after another error it is of no use.
func (c *connection) exec(end time.Time, together bool, commands [][]any) (answers []answer, sent bool, err error) {
	if err := c.SetDeadline(end); err != nil {
		return nil, false, err
	}
	if together {
		if err := c.send(append(append([][]any{{"MULTI"}}, commands...), []any{"EXEC"})...); err != nil {
			return nil, true, err // what was sent may have arrived as a whole
		}
	}
	refused, err := c.queue([]any{"MULTI"}, "OK", together)
	if err == nil && !together {
		err = refused // and what follows would be done one by one
	}
	if err != nil {
		return nil, together, err
	}
	for _, command := range commands {
		no, err := c.queue(command, "QUEUED", together)
		if err != nil {
			return nil, together, err
		}
		if refused == nil {
			refused = no
		}
	}
	if !together {
		if err := c.send([]any{"EXEC"}); err != nil {
			return nil, true, err
		}
	}
	answers, err = c.executed()
	switch {
	case refused != nil && err == nil:
		err = fmt.Errorf("%w: EXEC was done, of which a part had been refused: %s", errForeign, refused.Error())
	case refused != nil && errors.As(err, new(refusal)):
		err = refused // which says more
	}
	return answers, true, err
}

// queue takes the answer to a command of a transaction, which it sends unless that was done. A refusal is no error of its own: EXEC is refused after it.
func (c *connection) queue(command []any, want string, sent bool) (refused, err error) {
	if !sent {
		if err := c.send(command); err != nil {
			return nil, err
		}
	}
	reply, err := c.read()
	var no refusal
	switch {
	case errors.As(err, &no):
		return no, nil
	case err == nil && reply.text != want:
		return nil, fmt.Errorf("%w: %v in a transaction was answered %v", errForeign, command[0], reply)
	}
	return nil, err
}

// executed takes the answer to EXEC. No command of a transaction here can fail by itself: after an error in the middle nobody knows what was done.
func (c *connection) executed() (answers []answer, err error) {
	next, err := c.in.Peek(1)
	if err != nil {
		return nil, err
	}
	if next[0] != '*' {
		reply, err := c.read()
		if err == nil {
			err = fmt.Errorf("%w: EXEC was answered %v", errForeign, reply)
		}
		return nil, err
	}
	line, err := c.line()
	if err != nil {
		return nil, err
	}
	n, ok := resp.ParseInt([]byte(line[1:]))
	switch {
	case ok && n == -1:
		return nil, nil
	case !ok || n < 0 || n > longestArray:
		return nil, fmt.Errorf("%w: %.40q", errForeign, line)
	}
	answers = make([]answer, n)
	var failed error
	for i := range answers {
		var no refusal
		if answers[i], err = c.read(); errors.As(err, &no) {
			failed = fmt.Errorf("%w: an error in the answer to EXEC: %w", errUnknown, no)
		} else if err != nil {
			return nil, err
		}
	}
	return answers, failed
}
