package datatype

import (
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
)

const (
	// wholeScan is up to how many fields HSCAN returns all at once, whatever the cursor, as Redis does for its small hashes.
	wholeScan = 512
	// positions is how many positions fields are spread over. Cursors are below it, and so below 2^53: some
	// client libraries keep them in floating-point numbers.
	positions = 1 << 48
)

// hScan serves HSCAN. A large hash is scanned in the order of its fields' positions, which depend on nothing but the fields' names:
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
	end := uint64(positions)
	if n := fieldCount(st.Value); n <= wholeScan {
		cursor = 0
	} else if width := positions / uint64(n) * uint64(opts.Count); cursor < positions && width < positions-cursor {
		end = cursor + width
	}
	var page [][]byte
	for f := fieldsOf(st.Value); f.next(); {
		if p := position(f.field); cursor <= p && p < end && opts.Matches(f.field) {
			page = append(page, f.field, f.value)
		}
	}
	dst = resp.AppendBulk(resp.AppendArray(dst, 2), strconv.FormatUint(end%positions, 10))
	dst = resp.AppendArray(dst, len(page))
	for _, part := range page {
		dst = resp.AppendBulk(dst, part)
	}
	return dst, noEffect
}

// position returns where HSCAN meets a field: FNV-1a, mixed, so that the upper bits depend on all of the name. It must stay as it is.
func position(field []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range field {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return mix(h) >> 16
}

// mix is the last step of splitmix64: each bit of the result depends on every bit of h.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
