package script

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// maxElements is how many elements gopher-lua's own instructions fill in; after some 25,000 it goes wrong.
const maxElements = 20_000

func (r *rewriter) expressions(list []ast.Expr) {
	for i := range list {
		list[i] = r.expression(list[i])
	}
}

// expression returns what e becomes.
func (r *rewriter) expression(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.IdentExpr:
		if v := r.uses[e]; v != nil && v.boxed() {
			return unbox(e)
		}
	case *ast.NumberExpr:
		e.Value = plainNumber(e.Value)
	case *ast.AttrGetExpr:
		e.Object, e.Key = r.expression(e.Object), r.expression(e.Key)
	case *ast.TableExpr:
		return r.table(e)
	case *ast.FuncCallExpr:
		if e.Func != nil {
			e.Func = r.expression(e.Func)
		} else {
			e.Receiver = r.expression(e.Receiver)
		}
		r.expressions(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = r.expression(e.Lhs), r.expression(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = r.expression(e.Lhs), r.expression(e.Rhs)
	case *ast.StringConcatOpExpr:
		return r.concat(e)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = r.expression(e.Lhs), r.expression(e.Rhs)
		if e.Operator == "%" {
			return single(call(nameModulo, e, single(e.Lhs), single(e.Rhs)))
		}
		return withoutNegativeZero(e)
	case *ast.UnaryMinusOpExpr:
		e.Expr = r.expression(e.Expr)
		if n, ok := e.Expr.(*ast.NumberExpr); ok {
			if f, _ := parseNumber(n.Value); f == 0 {
				return n
			}
		}
	case *ast.UnaryNotOpExpr:
		e.Expr = r.expression(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = r.expression(e.Expr)
	case *ast.FunctionExpr:
		e.Stmts = r.body(e, e.Stmts, e.ParList.Names...)
	}
	return e
}

// withoutNegativeZero computes what is 0 of two constants, for gopher-lua takes -0 and 0 for one constant, and INCRBY does not.
func withoutNegativeZero(e *ast.ArithmeticOpExpr) ast.Expr {
	a, ok := constant(e.Lhs)
	b, both := constant(e.Rhs)
	if !ok || !both || !(e.Operator == "*" && a*b == 0 || e.Operator == "/" && a/b == 0) {
		return e
	}
	zero := &ast.NumberExpr{Value: "0"}
	place(zero, e)
	return zero
}

// constant is the value of a number, perhaps with a minus.
func constant(e ast.Expr) (f float64, ok bool) {
	switch e := e.(type) {
	case *ast.NumberExpr:
		return parseNumber(e.Value)
	case *ast.UnaryMinusOpExpr:
		f, ok = constant(e.Expr)
		return -f, ok
	case *ast.ArithmeticOpExpr:
		a, isConstant := constant(e.Lhs)
		b, both := constant(e.Rhs)
		switch e.Operator {
		case "+":
			return a + b, isConstant && both
		case "-":
			return a - b, isConstant && both
		case "*":
			return a * b, isConstant && both
		case "/":
			return a / b, isConstant && both
		}
	}
	return 0, false
}

// plainNumber writes a number so that gopher-lua, for which 010 is eight, reads what Lua does.
func plainNumber(text string) string {
	f, ok := parseNumber(text)
	if !ok {
		panic(syntaxError("malformed number near '" + text + "'"))
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// concat is a .. b .. c: a call with all of them, or, if there are many, calls inside of calls.
func (r *rewriter) concat(e *ast.StringConcatOpExpr) ast.Expr {
	var values []ast.Expr
	var rest ast.Expr = e
	for {
		joined, ok := rest.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		values = append(values, single(r.expression(joined.Lhs)))
		rest = joined.Rhs
	}
	values = append(values, single(r.expression(rest)))
	for len(values) > atOnce {
		first := len(values) - atOnce
		values = append(values[:first:first], single(call(nameConcat, e, values[first:]...)))
	}
	return single(call(nameConcat, e, values...))
}

// table is a constructor: fields whose keys are not names are filled in afterwards.
func (r *rewriter) table(e *ast.TableExpr) ast.Expr {
	var fields []*ast.Field
	var later []ast.Expr
	elements := 0
	for _, field := range e.Fields {
		field.Value = r.expression(field.Value)
		switch _, isName := field.Key.(*ast.StringExpr); {
		case isName && (elements == 0 || elements%lua.FieldsPerFlush != 0): // or else gopher-lua stores the last elements again, of which it has lost some
			fields = append(fields, field)
		case field.Key != nil:
			later = append(later, single(r.expression(field.Key)), single(field.Value))
		case elements < maxElements:
			fields = append(fields, field)
			elements++
		default:
			index := &ast.NumberExpr{Value: strconv.Itoa(maxElements + 1 + len(later)/2)}
			place(index, e)
			later = append(later, index, single(field.Value))
		}
	}
	e.Fields = fields
	if last := len(fields) - 1; last >= 0 && fields[last].Key == nil && isSeveral(fields[last].Value) {
		fields[last].Value = call(nameSeveral, fields[last].Value, fields[last].Value)
	}
	var out ast.Expr = e
	for len(later) > 0 {
		n := min(len(later), maxElements)
		list := &ast.TableExpr{}
		for _, part := range later[:n] {
			list.Fields = append(list.Fields, &ast.Field{Value: part})
		}
		place(list, e)
		out = single(call(nameFill, e, out, list))
		later = later[n:]
	}
	return out
}

// isSeveral reports whether an expression may be any number of values.
func isSeveral(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	case *ast.Comma3Expr:
		return !e.AdjustRet
	}
	return false
}
