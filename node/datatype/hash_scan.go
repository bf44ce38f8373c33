package datatype

import (
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// wholeScan is up to how many fields HSCAN returns all at once, whatever the cursor, as Redis does for its small hashes.
const wholeScan = 512

// hScan serves HSCAN. A large hash is scanned in the order of its fields' positions (parts.Position), which depend on nothing but the fields' names:
// a cursor says from which position on, and it is the same on every node, whatever was set and removed meanwhile.
// Each page is of a range of positions that should have as many fields as were asked for.
func hScan(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	cursor, err := scan.ParseCursor(req.Args[2])
	if err != nil {
		return refuse(dst, err.Error())
	}
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	if !st.Live() { // before the options are looked at, as Redis does
		return resp.AppendArray(resp.AppendBulk(resp.AppendArray(dst, 2), "0"), 0), noEffect
	}
	opts, err := scan.Parse(req.Args[3:], false)
	if err != nil {
		return refuse(dst, err.Error())
	}
	h, end := hashIn(st), uint64(parts.Positions)
	if n := h.count(); n <= wholeScan {
		cursor = 0
	} else if width := parts.Positions / uint64(n) * uint64(opts.Count); cursor < parts.Positions && width < parts.Positions-cursor {
		end = cursor + width
	}
	page := h.page(cursor, end, opts.Matches)
	dst = resp.AppendBulk(resp.AppendArray(dst, 2), strconv.FormatUint(end%parts.Positions, 10))
	dst = resp.AppendArray(dst, len(page))
	for _, part := range page {
		dst = resp.AppendBulk(dst, part)
	}
	return dst, noEffect
}

// page returns the fields that are wanted, and their values, whose positions are not below start, and below end.
func (h hash) page(start, end uint64, wanted func(field []byte) bool) (page [][]byte) {
	all := h.all()
	if h.parts != nil {
		all = h.parts.From(start)
	}
	for field, value := range all {
		switch p := parts.Position(field); {
		case p >= end && h.parts != nil: // and so are all others
			return page
		case start <= p && p < end && wanted(field):
			page = append(page, field, value)
		}
	}
	return page
}
