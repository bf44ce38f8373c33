package datatype

import (
	"math"
	"math/big"
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/geo"
)

// Positions are members of sorted sets, whose scores they are: see package geo.

// geoAdd serves GEOADD.
func geoAdd(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	var o addOptions
	triples := req.Args[2:]
	for len(triples) > 0 && (isWord(triples[0], "nx") || isWord(triples[0], "xx") || isWord(triples[0], "ch")) {
		o.parse(triples[0])
		triples = triples[1:]
	}
	if len(triples) == 0 || len(triples)%3 != 0 || o.nx && o.xx {
		return refuse(dst, errSyntax)
	}
	var room [usual]scored
	members := room[:0]
	for i := 0; i < len(triples); i += 3 {
		p, problem := parsePoint(triples[i], triples[i+1])
		if problem != "" {
			return refuse(dst, problem)
		}
		members = append(members, scored{p.Score(), triples[i+2]})
	}
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	return o.add(dst, st, req, members)
}

// parsePoint reads a position. problem is an error text, empty when all is well.
func parsePoint(lon, lat []byte) (p geo.Point, problem string) {
	var ok, latOK bool
	p.Lon, ok = parseScore(lon)
	p.Lat, latOK = parseScore(lat)
	switch {
	case !ok || !latOK:
		return p, errNotFloat
	case !p.Valid():
		return p, "ERR invalid longitude,latitude pair " + formatFixed(p.Lon) + "," + formatFixed(p.Lat)
	}
	return p, ""
}

// formatFixed writes a number as C's %f.
func formatFixed(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}

// metersOf returns how many meters a unit is, 0 for what is none.
func metersOf(arg []byte) float64 {
	switch {
	case isWord(arg, "m"):
		return 1
	case isWord(arg, "km"):
		return 1000
	case isWord(arg, "ft"):
		return 0.3048
	case isWord(arg, "mi"):
		return 1609.34
	}
	return 0
}

// geoDist serves GEODIST.
func geoDist(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	unit := 1.0
	switch len(req.Args) {
	case 4:
	case 5:
		if unit = metersOf(req.Args[4]); unit == 0 {
			return refuse(dst, errUnit)
		}
	default:
		return refuse(dst, errSyntax)
	}
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	z := zsetIn(st)
	a, b := z.locate(req.Args[2]), z.locate(req.Args[3])
	if !a.found || !b.found {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	return appendDistance(dst, geo.Distance(geo.At(a.score), geo.At(b.score))/unit), noEffect
}

// appendDistance appends a distance, which has four digits behind the point.
func appendDistance(dst []byte, d float64) []byte {
	const digits = 4
	var room [32]byte
	text := strconv.AppendInt(room[:0], int64(math.RoundToEven(d*1e4)), 10)
	for len(text) <= digits {
		text = append([]byte{'0'}, text...)
	}
	point := len(text) - digits
	return resp.AppendBulk(dst, string(text[:point])+"."+string(text[point:]))
}

// geoHash serves GEOHASH.
func geoHash(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return eachPosition(dst, st, req, resp.AppendNull, func(dst []byte, p geo.Point) []byte { return resp.AppendBulk(dst, p.Geohash()) })
}

// geoPos serves GEOPOS.
func geoPos(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return eachPosition(dst, st, req, resp.AppendNullArray, func(dst []byte, p geo.Point) []byte { return appendPoint(dst, p, req.RESP3) })
}

// eachPosition replies something of each member that is named.
func eachPosition(dst []byte, st record.State, req *command.Request, null func([]byte, bool) []byte, reply func([]byte, geo.Point) []byte) ([]byte, record.Effect) {
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	z, asked := zsetIn(st), req.Args[2:]
	dst = resp.AppendArray(dst, len(asked))
	for _, member := range asked {
		if at := z.locate(member); at.found {
			dst = reply(dst, geo.At(at.score))
		} else {
			dst = null(dst, req.RESP3)
		}
	}
	return dst, noEffect
}

// appendPoint appends a position as Redis does, with 17 digits behind the point and no zeros at the end.
func appendPoint(dst []byte, p geo.Point, resp3 bool) []byte {
	dst = resp.AppendArray(dst, 2)
	for _, degrees := range []float64{p.Lon, p.Lat} {
		text := formatLongDouble(new(big.Float).SetFloat64(degrees))
		if resp3 {
			dst = append(append(append(dst, ','), text...), "\r\n"...)
		} else {
			dst = resp.AppendBulk(dst, text)
		}
	}
	return dst
}
