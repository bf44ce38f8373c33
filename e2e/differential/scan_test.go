//go:build unix

package differential

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// scanAll returns the keys that a whole SCAN with these options finds, sorted and each once,
// or the error that it gets.
func scanAll(l *link, options []string) string {
	var found []string
	for cursor := "0"; ; {
		reply, err := l.do(append([]string{"SCAN", cursor}, options...)...)
		if err != nil || strings.HasPrefix(reply, "-") {
			return reply
		}
		page := parseReply(reply)
		if len(page.list) != 2 {
			return reply
		}
		found = append(found, page.list[1].texts()...)
		if cursor = page.list[0].text; cursor == "0" {
			break
		}
	}
	slices.Sort(found)
	return fmt.Sprintf("%q", slices.Compact(found))
}

// expire lets a key expire and waits until it has, on both servers.
func (p *player) expire(pair *pair, s step) error {
	key := s.args[0]
	x := exchange{step: s}
	var err, err2 error
	x.redis, err = pair.redis.do("PEXPIRE", key, "1")
	x.quoll, err2 = pair.quoll.do("PEXPIRE", key, "1")
	if err := errors.Join(err, err2, p.judge(x)); err != nil {
		return err
	}
	return errors.Join(awaitExpiry(pair.redis, key), awaitExpiry(pair.quoll, key))
}

func awaitExpiry(l *link, key string) error {
	for deadline := time.Now().Add(patience); ; {
		reply, err := l.do("EXISTS", key)
		switch {
		case err != nil:
			return err
		case reply == ":0\r\n":
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%q does not expire: %q", key, reply)
		}
	}
}
