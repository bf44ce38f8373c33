package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// exchange is what one connection of a load does over and over, until the time is up: it sends some commands at once and takes their replies, or does it together with another
// connection. It returns how many operations that were.
type exchange func() (operations int64, err error)

// repeat has each of these do its exchange over and over, each in a goroutine of its own, and returns how many operations were done in how much time, and how long exchanges took.
func repeat(ctx context.Context, duration time.Duration, all []exchange) (m measure, err error) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		took   []time.Duration
		failed error
	)
	began := time.Now()
	for _, do := range all {
		group.Go(func() {
			var own []time.Duration
			var operations int64
			var err error
			for ctx.Err() == nil && err == nil {
				var n int64
				start := time.Now()
				n, err = do()
				own, operations = append(own, time.Since(start)), operations+n
			}
			if errors.Is(err, errNothingLeft) {
				err = nil
			}
			mu.Lock()
			defer mu.Unlock()
			took, m.Operations, failed = append(took, own...), m.Operations+operations, errors.Join(failed, err)
		})
	}
	group.Wait()
	m.Throughput = float64(m.Operations) / time.Since(began).Seconds()
	slices.Sort(took)
	at := func(share float64) float64 {
		if len(took) == 0 {
			return 0
		}
		return float64(took[int(share*float64(len(took)-1))]) / float64(time.Microsecond)
	}
	m.P50, m.P99, m.P999 = at(0.5), at(0.99), at(0.999)
	return m, failed
}

// talker is a connection that sends commands, and takes replies, as they are on the wire in RESP2.
type talker struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// talkPatience is how long a reply may take.
const talkPatience = 30 * time.Second

func talk(ctx context.Context, address string) (*talker, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &talker{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// add adds a command to what is sent next.
func (t *talker) add(words ...string) {
	t.out = append(strconv.AppendInt(append(t.out, '*'), int64(len(words)), 10), "\r\n"...)
	for _, word := range words {
		t.out = append(strconv.AppendInt(append(t.out, '$'), int64(len(word)), 10), "\r\n"...)
		t.out = append(append(t.out, word...), "\r\n"...)
	}
}

// send sends what was added.
func (t *talker) send() error {
	_ = t.conn.SetDeadline(time.Now().Add(talkPatience)) // what follows tells
	_, err := t.conn.Write(t.out)
	t.out = t.out[:0]
	return err
}

// take takes a reply, and returns its first line without what ends it. An error among the replies is one.
func (t *talker) take() (first string, err error) {
	line, err := t.in.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	first = strings.TrimRight(string(line), "\r\n")
	if first == "" {
		return "", errors.New("an empty line is no reply")
	}
	switch n, _ := strconv.Atoi(first[1:]); first[0] {
	case '-':
		return "", errors.New(first[1:])
	case '$':
		if n >= 0 {
			_, err = t.in.Discard(n + len("\r\n"))
		}
	case '*':
		for range n {
			if _, err := t.take(); err != nil {
				return "", err
			}
		}
	case '+', ':':
	default:
		return "", fmt.Errorf("%q is no reply", first)
	}
	return first, err
}

// errNothingLeft ends an exchange in order: a reply was null.
var errNothingLeft = errors.New("nothing is left")

// pipeline returns an exchange of as many commands as a pipeline has. Each is answered with a reply that begins in some way.
func (t *talker) pipeline(depth int, begins string, words func() []string) exchange {
	return func() (int64, error) {
		for range depth {
			t.add(words()...)
		}
		if err := t.send(); err != nil {
			return 0, err
		}
		done, nothing := int64(0), false
		for range depth {
			first, err := t.take()
			if err != nil {
				return 0, err
			}
			if first == "*-1" {
				nothing = true
				continue
			}
			if !strings.HasPrefix(first, begins) {
				return 0, fmt.Errorf("%s was answered with %q", words()[0], first)
			}
			done++
		}
		if nothing {
			return done, errNothingLeft
		}
		return done, nil
	}
}

// one sends one command and takes its reply.
func (t *talker) one(words ...string) error {
	t.add(words...)
	if err := t.send(); err != nil {
		return err
	}
	_, err := t.take()
	return err
}

// talkers opens connections to a server, which are closed with the function that comes with them.
func talkers(ctx context.Context, address string, n int) (all []*talker, closeAll func(), err error) {
	closeAll = func() {
		for _, t := range all {
			_ = t.conn.Close()
		}
	}
	for range n {
		t, err := talk(ctx, address)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		all = append(all, t)
	}
	return all, closeAll, nil
}
