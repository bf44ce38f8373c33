package datatype

import (
	"cmp"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/geo"
)

// geoSearching is a search for positions: what is searched, and what is replied.
type geoSearching struct {
	z    zset
	area geo.Area
	// searches: the area is among the options, as GEOSEARCH has it.
	searches              bool
	fromMember, fromPlace bool
	byRadius, byBox       bool
	// mayStore: the command knows STORE and STOREDIST, with the key to store under.
	mayStore bool
	// into is the key that the result is stored under, nil if it is replied, and distances says that distances become the scores.
	into      []byte
	distances bool

	withDist, withHash, withCoord bool
	order                         int // 1 ascending, -1 descending
	any                           bool
	count                         int64 // 0: all
}

// geoSearch serves GEOSEARCH, and GEORADIUS, GEORADIUSBYMEMBER and what only reads of them if nothing is to be stored: see geoStore.
func geoSearch(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	g, found, problem := geoFind(st, req)
	switch {
	case problem != "":
		return refuse(dst, problem)
	case g.into != nil:
		return refuse(dst, errGeoStore)
	}
	return g.reply(dst, found, req.RESP3)
}

// geoFind returns the search that a command asks for, and what it finds. problem is an error text, empty when all is well.
func geoFind(st record.State, req *command.Request) (g *geoSearching, found []geoFound, problem string) {
	if holdsOther(st, record.SortedSet) {
		return nil, nil, errWrongType
	}
	g = &geoSearching{z: zsetIn(st)}
	rest := req.Args[2:]
	switch req.Op {
	case command.OpGeoRadius, command.OpGeoRadiusRO:
		g.mayStore = req.Op == command.OpGeoRadius
		if g.area.Center, problem = parsePoint(rest[0], rest[1]); problem == "" {
			problem = g.parseRadius(rest[2], rest[3])
		}
		rest = rest[4:]
	case command.OpGeoRadiusByMember, command.OpGeoRadiusByMemberRO:
		g.mayStore = req.Op == command.OpGeoRadiusByMember
		if st.Live() { // of a key that is not there only the options are looked at
			if problem = g.parseMember(rest[0]); problem == "" {
				problem = g.parseRadius(rest[1], rest[2])
			}
		}
		rest = rest[3:]
	case command.OpGeoSearchStore:
		g.into, rest = req.Args[1], rest[1:]
		fallthrough
	default:
		g.searches = true
	}
	if problem == "" {
		problem = g.parse(rest, st.Live())
	}
	if problem == "" {
		problem = g.conflict(req)
	}
	if problem != "" || !st.Live() {
		return g, nil, problem
	}
	return g, g.search(), ""
}

// parseMember makes the position of a member the center.
func (g *geoSearching) parseMember(member []byte) (problem string) {
	at := g.z.locate(member)
	if !at.found {
		return errNoPosition
	}
	g.area.Center = geo.At(at.score)
	return ""
}

// parseRadius reads a radius and its unit.
func (g *geoSearching) parseRadius(radius, unit []byte) (problem string) {
	var ok bool
	g.area.Radius, ok = parseScore(radius)
	switch {
	case !ok:
		return errRadius
	case g.area.Radius < 0:
		return errNegativeRadius
	}
	return g.parseUnit(unit)
}

func (g *geoSearching) parseUnit(unit []byte) (problem string) {
	if g.area.Unit = metersOf(unit); g.area.Unit == 0 {
		return errUnit
	}
	return ""
}

// parseBox reads the width and the height of a box, and their unit.
func (g *geoSearching) parseBox(args [][]byte) (problem string) {
	width, ok := parseScore(args[0])
	if !ok {
		return errWidth
	}
	height, ok := parseScore(args[1])
	if !ok {
		return errHeight
	}
	if width < 0 || height < 0 {
		return errNegativeBox
	}
	g.area.IsBox, g.area.Width, g.area.Height = true, width, height
	return g.parseUnit(args[2])
}

// parse reads the options. problem is an error text, empty when all is well.
func (g *geoSearching) parse(args [][]byte, live bool) (problem string) {
	for len(args) > 0 && problem == "" {
		taken := 1
		switch arg := args[0]; {
		case isWord(arg, "withdist"):
			g.withDist = true
		case isWord(arg, "withhash"):
			g.withHash = true
		case isWord(arg, "withcoord"):
			g.withCoord = true
		case isWord(arg, "any"):
			g.any = true
		case isWord(arg, "asc"):
			g.order = 1
		case isWord(arg, "desc"):
			g.order = -1
		case isWord(arg, "count") && len(args) > 1:
			problem, taken = g.parseCount(args[1]), 2
		case (isWord(arg, "store") || isWord(arg, "storedist")) && len(args) > 1 && g.mayStore:
			g.into, g.distances, taken = args[1], isWord(arg, "storedist"), 2
		case isWord(arg, "storedist") && g.searches && g.into != nil:
			g.distances = true
		default:
			if problem, taken = g.parseArea(args, live); taken == 0 {
				return errSyntax
			}
		}
		args = args[min(taken, len(args)):]
	}
	return problem
}

func (g *geoSearching) parseCount(arg []byte) (problem string) {
	var ok bool
	if g.count, ok = parseInt(arg); !ok {
		return errNotInteger
	}
	if g.count <= 0 {
		return errCount
	}
	return ""
}

// parseArea reads an option of GEOSEARCH that says where to search, and returns how many arguments it took, 0 if there is none.
func (g *geoSearching) parseArea(args [][]byte, live bool) (problem string, taken int) {
	switch arg := args[0]; {
	case !g.searches:
		return "", 0
	case isWord(arg, "frommember") && len(args) > 1 && !g.fromPlace:
		if live {
			problem = g.parseMember(args[1])
		}
		g.fromMember = true
		return problem, 2
	case isWord(arg, "fromlonlat") && len(args) > 2 && !g.fromMember:
		g.area.Center, problem = parsePoint(args[1], args[2])
		g.fromPlace = true
		return problem, 3
	case isWord(arg, "byradius") && len(args) > 2 && !g.byBox:
		g.byRadius = true
		return g.parseRadius(args[1], args[2]), 3
	case isWord(arg, "bybox") && len(args) > 3 && !g.byRadius:
		g.byBox = true
		return g.parseBox(args[1:]), 4
	}
	return "", 0
}

// conflict returns the error of options that do not go together, nothing if they do.
func (g *geoSearching) conflict(req *command.Request) (problem string) {
	with := g.withDist || g.withHash || g.withCoord
	switch {
	case g.into != nil && with && g.searches:
		return errGeoSearchWith
	case g.into != nil && with:
		return errGeoStoreWith
	case g.searches && !g.fromMember && !g.fromPlace:
		return "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + string(req.Args[0])
	case g.searches && !g.byRadius && !g.byBox:
		return "ERR exactly one of BYRADIUS and BYBOX can be specified for " + string(req.Args[0])
	case g.any && g.count == 0:
		return errAny
	}
	return ""
}

// search returns what is asked for, in its order.
func (g *geoSearching) search() (found []geoFound) {
	found = g.find()
	if g.order == 0 && g.count > 0 && !g.any {
		g.order = 1
	}
	if g.order != 0 {
		slices.SortStableFunc(found, func(a, b geoFound) int { return g.order * cmp.Compare(a.distance, b.distance) })
	}
	if g.count > 0 && g.count < int64(len(found)) {
		found = found[:g.count]
	}
	return found
}

// geoFound is a position that was found.
type geoFound struct {
	scored
	distance float64 // in meters
	at       geo.Point
}

// find returns the members in the area, the first ones if any will do.
func (g *geoSearching) find() (found []geoFound) {
	for _, scores := range g.area.Scores() {
		r := scoreRange{scoreBound{score: scores.Min}, scoreBound{score: scores.Max, open: true}}
		from, to := g.z.ranks(r, false, 0)
		for s := range g.z.span(from, to, false) {
			at := geo.At(s.score)
			if distance, ok := g.area.Has(at); ok {
				found = append(found, geoFound{s, distance, at})
			}
			if g.any && int64(len(found)) >= g.count {
				return found
			}
		}
	}
	return found
}

// reply replies what was found.
func (g *geoSearching) reply(dst []byte, found []geoFound, resp3 bool) ([]byte, record.Effect) {
	parts := 1
	for _, with := range []bool{g.withDist, g.withHash, g.withCoord} {
		if with {
			parts++
		}
	}
	start := len(dst)
	dst = resp.AppendArray(dst, len(found))
	for _, f := range found {
		if parts > 1 {
			dst = resp.AppendArray(dst, parts)
		}
		dst = resp.AppendBulk(dst, f.member)
		if g.withDist {
			dst = appendDistance(dst, f.distance/g.area.Unit)
		}
		if g.withHash {
			dst = resp.AppendInt(dst, geo.Bits(f.score))
		}
		if g.withCoord {
			dst = appendPoint(dst, f.at, resp3)
		}
		if len(dst)-start > maxReply {
			return refuse(dst[:start], errMuchReply)
		}
	}
	return dst, noEffect
}
