package datatype

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/rdb"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// restoreOptions are what may follow the payload in RESTORE. How long nobody has used the key, and how often, is read and forgotten: no such thing is known here.
type restoreOptions struct {
	replace, absolute bool
}

// parseRestoreOptions reads them. problem is an error text, empty when all is well.
func parseRestoreOptions(args [][]byte) (opts restoreOptions, problem string) {
	var idle, freq bool
	for ; len(args) > 0; args = args[1:] {
		switch more := len(args) > 1; {
		case isWord(args[0], "replace"):
			opts.replace = true
			continue
		case isWord(args[0], "absttl"):
			opts.absolute = true
			continue
		case isWord(args[0], "idletime") && more && !freq:
			idle, problem = true, checkNumber(args[1], math.MaxInt64, "ERR Invalid IDLETIME value, must be >= 0")
		case isWord(args[0], "freq") && more && !idle:
			freq, problem = true, checkNumber(args[1], math.MaxUint8, "ERR Invalid FREQ value, must be >= 0 and <= 255")
		default:
			problem = errSyntax
		}
		if problem != "" {
			return opts, problem
		}
		args = args[1:]
	}
	return opts, ""
}

func checkNumber(arg []byte, most int64, problem string) string {
	switch n, ok := parseInt(arg); {
	case !ok:
		return errNotInteger
	case n < 0 || n > most:
		return problem
	}
	return ""
}

// restore serves RESTORE: the key gets the value of a payload of DUMP.
func restore(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	opts, problem := parseRestoreOptions(req.Args[4:])
	switch {
	case problem != "":
		return refuse(dst, problem)
	case st.Live() && !opts.replace:
		return refuse(dst, errBusyKey)
	}
	if problem = checkNumber(req.Args[2], math.MaxInt64, errTTL); problem != "" {
		return refuse(dst, problem)
	}
	at, _ := parseInt(req.Args[2])
	if at != 0 && !opts.absolute {
		if at > math.MaxInt64-now {
			return refuse(dst, errExpireTime(req))
		}
		at += now
	}
	value, err := rdb.Open(req.Args[3], max(longest(req), longestCollection(req)))
	if err != nil {
		return refuse(dst, problemOf(err))
	}
	next, problem := restored(value, req, now)
	if problem != "" {
		return refuse(dst, problem)
	}
	next.ExpireAt = at
	dst = append(dst, resp.OK...)
	if next.Expired(now) && !st.Live() {
		return dst, noEffect
	}
	return dst, replaced(next, now)
}

// problemOf returns the text of the error for a payload that cannot be restored.
func problemOf(err error) string {
	switch {
	case errors.Is(err, rdb.ErrChecksum):
		return errChecksum
	case errors.Is(err, rdb.ErrKind):
		return errNoRestore
	case errors.Is(err, rdb.ErrTooLong):
		return ErrTooLong
	}
	return errBadDump
}

// restored returns the state with the value of a payload.
func restored(value rdb.Value, req *command.Request, now int64) (st record.State, problem string) {
	switch value.Kind {
	case rdb.String:
		return restoredString(value, req)
	case rdb.Stream:
		return restoredStream(value, req)
	}
	for _, d := range dumps {
		if d.kind == value.Kind {
			return (&restoring{dumped: d, from: req, now: now}).run(value)
		}
	}
	return st, errNoRestore
}

func restoredString(value rdb.Value, req *command.Request) (st record.State, problem string) {
	err := value.Each(func(item []byte, _ float64) error {
		if len(item) > longest(req) {
			return rdb.ErrTooLong
		}
		st = record.State{Type: record.String, Value: buffer.Clone(item)}
		return nil
	})
	if err != nil {
		return record.State{}, problemOf(err)
	}
	return st, ""
}

// restoring makes a collection of the items of a payload, by the command that adds some: so a new one is in the form in which commands leave it.
type restoring struct {
	dumped
	from  *command.Request
	now   int64
	args  [][]byte // of the next command
	state record.State
	reply []byte // of the last command
}

// restoredAtOnce is up to how many arguments a command has that adds items of a payload.
const restoredAtOnce = 512

// errRestoring ends the reading of a payload: the reply is an error.
var errRestoring = errors.New("datatype: an item of a payload was refused")

func (r *restoring) run(value rdb.Value) (record.State, string) {
	count := 0
	err := value.Each(func(item []byte, score float64) error {
		if value.Kind == rdb.SortedSet {
			r.add(strconv.AppendFloat(nil, score, 'g', -1, 64))
		}
		r.add(item)
		if count++; value.Kind == rdb.Hash && count%2 != 0 || len(r.args) < restoredAtOnce {
			return nil
		}
		return r.flush()
	})
	if err == nil {
		err = r.flush()
	}
	if errors.Is(err, errRestoring) {
		return record.State{}, string(r.reply)
	}
	if value.Kind == rdb.Hash {
		count /= 2
	}
	switch {
	case err != nil:
		return record.State{}, problemOf(err)
	case r.count(r.state) != count: // one was there twice
		return record.State{}, errBadDump
	}
	return r.state, ""
}

// add keeps an argument.
func (r *restoring) add(arg []byte) { r.args = append(r.args, buffer.Clone(arg)) }

// flush runs a command with what was added.
func (r *restoring) flush() error {
	if len(r.args) == 0 {
		return nil
	}
	req := *r.from
	req.Op, req.Owned = r.op, true
	req.Args = append([][]byte{[]byte("RESTORE"), r.from.Args[1]}, r.args...)
	var eff record.Effect
	r.reply, eff = r.write(r.reply[:0], r.state, &req, r.now)
	if r.reply[0] == '-' {
		r.reply = r.reply[1 : len(r.reply)-len("\r\n")]
		return errRestoring
	}
	if eff.Kind != record.Unchanged {
		r.state = eff.Whole().Keep()
		r.state.Value = slices.Clip(r.state.Value)
	}
	r.args = r.args[:0]
	return nil
}
