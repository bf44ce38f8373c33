//go:build unix

package differential

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// exchange is a step and what both servers answered.
type exchange struct {
	step
	redis, quoll string
	// refused is what Quoll must answer to a command that Redis was not sent.
	refused string
	// redisID and quollID are what CLIENT ID answers on this connection.
	redisID, quollID string
}

// closed stands for the reply of a connection that the server has closed, silent for one
// that does not come.
const (
	closed = "(connection closed)"
	silent = "(no reply)"
)

// player runs scripts on both servers.
type player struct {
	servers servers
	pairs   map[int]*pair
	// judge is called with every exchange, in order. An error ends the script.
	judge func(exchange) error
	// played is how many steps of the script have been sent.
	played int
}

// pair is one connection of a script, to both servers.
type pair struct {
	redis, quoll *link
	transactions transactions
}

func (p *pair) close() {
	_ = p.redis.Close()
	_ = p.quoll.Close()
}

// play runs a script on empty servers. The error says which step differs, or what went
// wrong with the test itself.
func (p *player) play(s script) error {
	p.pairs, p.played = map[int]*pair{}, 0
	defer func() {
		for _, pair := range p.pairs {
			pair.close()
		}
	}()
	for _, address := range []string{p.servers.redis, p.servers.quoll} {
		if err := flush(address); err != nil {
			return err
		}
	}
	for len(s) > 0 {
		n := s.round()
		p.played += n
		if err := p.playRound(s[:n]); err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// playPatiently plays a script again when the machine was too busy for Quoll's nodes, which
// is not what is tested here. That may happen a few times in a row and no more.
func (p *player) playPatiently(s script) (err error) {
	for range 5 {
		if err = p.play(s); !errors.Is(err, errUnavailable) {
			return err
		}
		if err := p.awaitNodes(); err != nil {
			return err
		}
	}
	return err
}

// awaitNodes polls Quoll until its nodes answer each other again.
func (p *player) awaitNodes() error {
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(50 * time.Millisecond) {
		if err := flush(p.servers.quoll); !errors.Is(err, errUnavailable) || time.Now().After(deadline) {
			return err
		}
	}
}

func flush(address string) error {
	l, err := dial(address)
	if err != nil {
		return err
	}
	defer l.Close()
	for _, args := range [][]string{{"FLUSHALL"}, {"FUNCTION", "FLUSH"}} {
		if reply, err := l.do(args...); err != nil || reply != "+OK\r\n" {
			return cmp.Or(err, errUnavailable)
		}
	}
	return nil
}

// round returns how many steps go into the next write.
func (s script) round() int {
	n := 1
	for n < len(s) && s[n].joined && s[n].conn == s[0].conn && s[n].isCommand() && s[n-1].isCommand() {
		n++
	}
	return n
}

func (s step) isCommand() bool { return s.form == array || s.form == inline }

func (p *player) playRound(round script) error {
	pair, err := p.pair(round[0].conn)
	if err != nil {
		return err
	}
	switch first := round[0]; first.form {
	case array, inline:
		return p.pipeline(pair, round)
	case raw:
		delete(p.pairs, first.conn)
		defer pair.close()
		x := exchange{step: first, redisID: pair.redis.id, quollID: pair.quoll.id}
		x.redis, x.quoll = hangUp(pair.redis, first.args[0]), hangUp(pair.quoll, first.args[0])
		return p.judge(x)
	case expire:
		return p.expire(pair, first)
	case iterate:
		x := exchange{step: first}
		x.redis, x.quoll = scanAll(pair.redis, first.args), scanAll(pair.quoll, first.args)
		return p.judge(x)
	default:
		return fmt.Errorf("%v: no such form", first)
	}
}

// pair returns a connection of the script, a new one if the servers have closed it.
func (p *player) pair(number int) (*pair, error) {
	if p.pairs[number] != nil {
		return p.pairs[number], nil
	}
	redis, err := dial(p.servers.redis)
	if err != nil {
		return nil, err
	}
	quoll, err := dial(p.servers.quoll)
	if err != nil {
		return nil, err
	}
	p.pairs[number] = &pair{redis: redis, quoll: quoll}
	return p.pairs[number], nil
}

// pipeline sends commands in one write and compares the replies that are due. When it
// returns all commands have been executed.
func (p *player) pipeline(pair *pair, round script) error {
	due := expectReplies(&round)
	var toRedis, toQuoll []byte
	for _, s := range round {
		theirs, mine, err := p.resolve(s.args)
		if err != nil {
			return err
		}
		if refusal(s.args) != "" {
			theirs = placeholder
		}
		toRedis = append(toRedis, s.form.request(theirs)...)
		toQuoll = append(toQuoll, s.form.request(mine)...)
	}
	if round[0].name() == "DBSIZE" {
		_, _ = pair.redis.do("SCAN", "0", "COUNT", "100000") // it counts expired keys until it comes across them, which KEYS leaves where they are
	}
	_ = pair.redis.send(toRedis) // if it is closed there is no reply
	_ = pair.quoll.send(toQuoll)
	for _, s := range due {
		x := exchange{step: s, redisID: pair.redis.id, quollID: pair.quoll.id, refused: refusal(s.args)}
		var ended [2]bool
		x.redis, ended[0] = await(pair.redis)
		x.quoll, ended[1] = await(pair.quoll)
		for _, x := range pair.transactions.take(x) {
			if err := p.judge(x); err != nil {
				return err
			}
		}
		if ended[0] || ended[1] {
			pair.close()
			delete(p.pairs, s.conn)
			return nil
		}
	}
	return nil
}

// request returns the bytes of a command.
func (f form) request(args []string) []byte {
	if f == array {
		return encode(args)
	}
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = quote(arg)
	}
	return []byte(strings.Join(words, " ") + "\r\n")
}

// resolve replaces <id N> and <addr N> by what they stand for on each of the servers.
func (p *player) resolve(args []string) (redis, quoll []string, err error) {
	for _, arg := range args {
		theirs, mine := arg, arg
		var what string
		var number int
		if n, _ := fmt.Sscanf(arg, "<%s %d>", &what, &number); n == 2 {
			pair, err := p.pair(number)
			if err != nil {
				return nil, nil, err
			}
			theirs, mine = pair.redis.named(what), pair.quoll.named(what)
		}
		redis, quoll = append(redis, theirs), append(quoll, mine)
	}
	return redis, quoll, nil
}

// await reads a reply. ended says that there will be no more.
func await(l *link) (reply string, ended bool) {
	_ = l.SetReadDeadline(time.Now().Add(patience))
	reply, err := l.reply()
	switch {
	case err == nil:
		return reply, false
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reply + silent, true
	}
	var lost net.Error
	if reply == "" || errors.As(err, &lost) {
		return reply + closed, true
	}
	return fmt.Sprintf("%s(%v)", reply, err), true
}

// hangUp sends bytes, ends the sending side, and returns everything that is answered.
func hangUp(l *link, bytes string) string {
	if l.send([]byte(bytes)) != nil {
		return closed
	}
	return l.rest()
}
