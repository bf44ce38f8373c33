package resp

import (
	"bytes"
	"fmt"
)

// span is the place of an argument in its request.
type span struct{ start, length uint32 }

// parser is how far the parsing of one request has come. All positions are
// relative to the first byte of the request, so that the buffer may move.
type parser struct {
	pos     int // everything before is parsed
	scanned int // up to here there is no end of the current line
	missing int // arguments that are not complete, 0 before the header of an array
	bulk    int // length of the argument that comes next, -1 before its header
	spans   []span
}

// reset prepares for the next request.
func (p *parser) reset() {
	spans := p.spans[:0]
	if cap(spans) > keptSpans {
		spans = nil
	}
	*p = parser{bulk: -1, spans: spans}
}

// known returns the length that the request has at least, as far as declared.
func (p *parser) known() int {
	if p.bulk < 0 {
		return p.pos
	}
	return p.pos + p.bulk + 2
}

// parse goes on with the request that data begins with; data contains at least
// what it contained at the last call. When the request is complete, spans are its
// arguments (maybe none: an empty request) and pos is its length.
func (p *parser) parse(data []byte, limits *Limits) (complete bool, err error) {
	if len(data) == 0 {
		return false, nil
	}
	if data[0] != '*' {
		return p.parseInline(data, limits)
	}
	if p.pos == 0 {
		ok, err := p.parseArrayHeader(data, limits)
		if err != nil || !ok {
			return false, err
		}
	}
	for p.missing > 0 {
		if p.bulk < 0 {
			if ok, err := p.parseBulkHeader(data, limits); err != nil || !ok {
				return false, err
			}
		}
		// Like Redis we do not look at the two bytes behind the argument: a client that
		// has lost count is found out at the next header.
		next := p.pos + p.bulk + 2
		if next > len(data) {
			return false, nil
		}
		p.spans = append(p.spans, span{uint32(p.pos), uint32(p.bulk)})
		p.pos, p.bulk = next, -1
		p.missing--
	}
	return true, nil
}

// parseArrayHeader reads the "*count" in front of a request. Counts that are not
// positive make an empty request, as in Redis.
func (p *parser) parseArrayHeader(data []byte, limits *Limits) (ok bool, err error) {
	line, err := p.line(data, limits.MaxInline, errArrayLineTooLong)
	if line == nil {
		return false, err
	}
	n, ok := ParseInt(line[1:])
	if !ok {
		return false, errArrayLength
	}
	if n > int64(limits.MaxArgs) {
		return false, pick(limits, errArrayLengthAuth, errArrayLength)
	}
	p.missing = int(max(n, 0))
	return true, nil
}

// parseBulkHeader reads the "$length" in front of an argument.
func (p *parser) parseBulkHeader(data []byte, limits *Limits) (ok bool, err error) {
	if n, used := shortLength(data[p.pos:]); used > 0 && n <= limits.MaxBulk && p.pos+used+n+2 <= limits.MaxRequest {
		p.pos += used
		p.bulk = n
		return true, nil
	}
	kind := p.pos
	line, err := p.line(data, limits.MaxInline, errBulkLineTooLong)
	if line == nil {
		return false, err
	}
	if data[kind] != '$' {
		return false, &ProtocolError{fmt.Sprintf("expected '$', got '%s'", data[kind:kind+1])}
	}
	n, ok := ParseInt(line[1:])
	switch {
	case !ok || n < 0:
		return false, errBulkLength
	case n > int64(limits.MaxBulk):
		return false, pick(limits, errBulkLengthAuth, errBulkLength)
	case int64(p.pos)+n+2 > int64(limits.MaxRequest):
		return false, errRequestTooLong
	}
	p.bulk = int(n)
	return true, nil
}

// shortLength reads a header of the form that nearly all have: "$", one to six
// digits, CR LF. used is its length, 0 if it does not have that form or is
// incomplete. It is worth having: small commands take about a quarter less time
// (BenchmarkReader).
func shortLength(b []byte) (n, used int) {
	if len(b) < 4 || b[0] != '$' {
		return 0, 0
	}
	for i := 1; i < min(len(b)-1, 8); i++ {
		digit := b[i] - '0'
		switch {
		case digit <= 9:
			n = n*10 + int(digit)
		case b[i] == '\r' && (i == 2 || i > 2 && b[1] != '0'):
			return n, i + 2
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// line returns the line at pos without its CR LF and moves pos behind it. It is nil
// while the line is incomplete. Like Redis it takes any byte for the LF.
func (p *parser) line(data []byte, longest int, tooLong *ProtocolError) ([]byte, error) {
	until := min(len(data), p.pos+longest+1)
	from := min(max(p.pos, p.scanned), until)
	i := bytes.IndexByte(data[from:until], '\r')
	if i < 0 {
		if len(data)-p.pos > longest {
			return nil, tooLong
		}
		p.scanned = until
		return nil, nil
	}
	end := from + i
	if end+2 > len(data) {
		p.scanned = end
		return nil, nil
	}
	line := data[p.pos:end]
	p.pos = end + 2
	return line, nil
}

// parseInline reads a request that is a line of words, as people type it.
func (p *parser) parseInline(data []byte, limits *Limits) (complete bool, err error) {
	until := min(len(data), limits.MaxInline+1)
	from := min(p.scanned, until)
	i := bytes.IndexByte(data[from:until], '\n')
	if i < 0 {
		if len(data) > limits.MaxInline {
			return false, errInlineTooLong
		}
		p.scanned = until
		return false, nil
	}
	end := from + i
	line := bytes.TrimSuffix(data[:end], []byte{'\r'})
	if isHTTP(line) {
		return false, ErrHTTP
	}
	words, ok := splitInline(line, p.spans)
	if !ok {
		return false, errQuotes
	}
	p.spans, p.pos = words, end+1
	return true, nil
}

// pick chooses between the two texts of a violated limit.
func pick(limits *Limits, unauthenticated, authenticated *ProtocolError) *ProtocolError {
	if limits.Unauthenticated {
		return unauthenticated
	}
	return authenticated
}
