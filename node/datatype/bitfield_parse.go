package datatype

// parseFieldOps reads the operations of BITFIELD on a value of at most so many bytes and appends them to ops. problem is
// an error text, empty when all is well.
func parseFieldOps(ops []fieldOp, args [][]byte, most int) (_ []fieldOp, problem string) {
	overflow := overflowWrap
	for len(args) > 0 {
		if isWord(args[0], "overflow") && len(args) > 1 {
			var ok bool
			if overflow, ok = parseOverflow(args[1]); !ok {
				return nil, errFieldOverflow
			}
			args = args[2:]
			continue
		}
		op := fieldOp{overflow: overflow}
		n, problem := op.parse(args, most)
		if problem != "" {
			return nil, problem
		}
		ops, args = append(ops, op), args[n:]
	}
	return ops, ""
}

// parse reads one operation and returns how many arguments it took. most is how long the value may be.
func (op *fieldOp) parse(args [][]byte, most int) (n int, problem string) {
	switch name := args[0]; {
	case isWord(name, "get") && len(args) >= 3:
		op.kind, n = fieldGet, 3
	case isWord(name, "set") && len(args) >= 4:
		op.kind, n = fieldSet, 4
	case isWord(name, "incrby") && len(args) >= 4:
		op.kind, n = fieldIncrBy, 4
	default:
		return 0, errSyntax
	}
	if !op.parseType(args[1]) {
		return 0, errFieldType
	}
	if !op.parsePosition(args[2], most) {
		return 0, errBitOffset
	}
	if n == 4 {
		var ok bool
		if op.operand, ok = parseInt(args[3]); !ok {
			return 0, errNotInteger
		}
	}
	return n, ""
}

// parseType reads i1 to i64 or u1 to u63. Replies are signed, so there is no u64.
func (op *fieldOp) parseType(arg []byte) bool {
	if len(arg) == 0 || arg[0] != 'i' && arg[0] != 'u' {
		return false
	}
	op.signed = arg[0] == 'i'
	widest := int64(63)
	if op.signed {
		widest = 64
	}
	width, ok := parseInt(arg[1:])
	op.width = int(width)
	return ok && width >= 1 && width <= widest
}

// parsePosition reads a position in bits, or "#" and one in fields.
func (op *fieldOp) parsePosition(arg []byte, most int) bool {
	if len(arg) == 0 || arg[0] != '#' {
		var ok bool
		op.pos, ok = parseBitOffset(arg, op.width, most)
		return ok
	}
	index, ok := parseInt(arg[1:])
	if !ok || index < 0 || index > int64(most)*8/int64(op.width)-1 {
		return false
	}
	op.pos = index * int64(op.width)
	return true
}

func parseOverflow(arg []byte) (overflowMode, bool) {
	switch {
	case isWord(arg, "wrap"):
		return overflowWrap, true
	case isWord(arg, "sat"):
		return overflowSaturate, true
	case isWord(arg, "fail"):
		return overflowFail, true
	}
	return 0, false
}
