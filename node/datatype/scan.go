package datatype

import (
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// wholeScan is up to how many elements HSCAN and the like return all at once, whatever the cursor, as Redis does for its small collections.
const wholeScan = 512

// hScan serves HSCAN.
func hScan(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return scanned{
		of:     record.Hash,
		open:   func(st record.State) elements { return hashIn(st) },
		append: func(page [][]byte, field, value []byte) [][]byte { return append(page, field, value) },
	}.page(dst, st, req)
}

// scanned is how a type of collections is scanned: how one is looked at, and what is replied of an element. What it appends is kept until the reply is there.
type scanned struct {
	of     record.Type
	open   func(st record.State) elements
	append func(page [][]byte, name, value []byte) [][]byte
}

// page serves a scan: key cursor [MATCH pattern] [COUNT count]. A large collection is scanned in the order of its names' positions (parts.Position), which depend on
// nothing but the names: a cursor says from which position on, and it is the same on every node, whatever was set and removed meanwhile.
// Each page is of a range of positions that should have as many elements as were asked for.
func (s scanned) page(dst []byte, st record.State, req *command.Request) ([]byte, record.Effect) {
	cursor, err := scan.ParseCursor(req.Args[2])
	if err != nil {
		return refuse(dst, err.Error())
	}
	if holdsOther(st, s.of) {
		return refuse(dst, errWrongType)
	}
	if !st.Live() { // before the options are looked at, as Redis does
		return resp.AppendArray(resp.AppendBulk(resp.AppendArray(dst, 2), "0"), 0), noEffect
	}
	opts, err := scan.Parse(req.Args[3:], false)
	if err != nil {
		return refuse(dst, err.Error())
	}
	e, end := s.open(st), uint64(parts.Positions)
	if n := e.count(); n <= wholeScan {
		cursor = 0
	} else if width := parts.Positions / uint64(n) * uint64(opts.Count); cursor < parts.Positions && width < parts.Positions-cursor {
		end = cursor + width
	}
	page := s.between(e, cursor, end, opts.Matches)
	dst = resp.AppendBulk(resp.AppendArray(dst, 2), strconv.FormatUint(end%parts.Positions, 10))
	dst = resp.AppendArray(dst, len(page))
	for _, part := range page {
		dst = resp.AppendBulk(dst, part)
	}
	return dst, noEffect
}

// between returns what is replied of the elements that are wanted whose positions are not below start, and below end.
func (s scanned) between(e elements, start, end uint64, wanted func(name []byte) bool) (page [][]byte) {
	all, m := e.all(), e.byPosition()
	if m != nil {
		all = m.From(start)
	}
	for name, value := range all {
		switch p := parts.Position(name); {
		case p >= end && m != nil: // and so are all others
			return page
		case start <= p && p < end && wanted(name):
			page = s.append(page, name, value)
		}
	}
	return page
}
