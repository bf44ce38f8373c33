package script

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// The names of the functions that a rewritten script calls, which no script can write. What they do is in operators.go.
const (
	nameSet      = "\x00set"     // table, key, value: table[key] = value
	nameGlobal   = "\x00global"  // name, value: an assignment to a global variable
	nameConcat   = "\x00concat"  // values: what .. joins
	nameFill     = "\x00fill"    // table, list of key, value, key, value: [key] = value in a constructor; returns the table
	nameSeveral  = "\x00several" // values: returns them, counted
	nameModulo   = "\x00modulo"  // a, b: a % b
	nameForStart = "\x00start"   // value: a number, or the error of a loop
	nameForLimit = "\x00limit"
	nameForStep  = "\x00step"
)

// maxSyntaxLevels is how deep statements and expressions may be inside of each other, so that no stack overflows.
const maxSyntaxLevels = 2000

// atOnce is how many values one call of a rewritten script takes, which registers limit.
const atOnce = 50

// rewriter changes what gopher-lua does not do as Lua 5.1 does it, or does without a bound, into calls of functions that do.
type rewriter struct{ *resolver }

// rewrite changes a script in place and returns it.
func rewrite(chunk []ast.Stmt) []ast.Stmt {
	r := &rewriter{resolve(chunk)}
	return r.block(chunk)
}

func place(node, like ast.PositionHolder) {
	node.SetLine(like.Line())
	node.SetLastLine(like.LastLine())
}

func (r *rewriter) block(list []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(list))
	for _, s := range list {
		out = r.statement(out, s)
	}
	return out
}

// statement appends what s becomes.
func (r *rewriter) statement(out []ast.Stmt, s ast.Stmt) []ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return r.assign(out, s)
	case *ast.LocalAssignStmt:
		return r.local(out, s)
	case *ast.FuncCallStmt:
		s.Expr = r.expression(s.Expr)
	case *ast.DoBlockStmt:
		s.Stmts = r.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition, s.Stmts = r.expression(s.Condition), r.block(s.Stmts)
	case *ast.RepeatStmt:
		s.Condition, s.Stmts = r.expression(s.Condition), r.block(s.Stmts)
	case *ast.IfStmt:
		s.Condition, s.Then, s.Else = r.expression(s.Condition), r.block(s.Then), r.block(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit = r.bound(nameForStart, s.Init), r.bound(nameForLimit, s.Limit)
		if s.Step != nil {
			s.Step = r.bound(nameForStep, s.Step)
		}
		s.Stmts = r.body(s, s.Stmts, s.Name)
	case *ast.GenericForStmt:
		r.expressions(s.Exprs)
		s.Stmts = r.body(s, s.Stmts, s.Names...)
	case *ast.ReturnStmt:
		r.expressions(s.Exprs)
	}
	return append(out, s)
}

// bound is the start, limit or step of a loop, which may be text.
func (r *rewriter) bound(name string, e ast.Expr) ast.Expr {
	e = r.expression(e)
	if _, ok := e.(*ast.NumberExpr); ok {
		return e
	}
	return call(name, e, single(e))
}

// body is a block with variables that are declared outside of it: it begins with putting them into boxes.
func (r *rewriter) body(by ast.PositionHolder, list []ast.Stmt, names ...string) []ast.Stmt {
	var out []ast.Stmt
	for i, v := range r.declared[by] {
		if v.boxed() {
			out = append(out, box(by, names[i], true))
		}
	}
	return append(out, r.block(list)...)
}

// box puts the value of a variable into a table: of a new variable of its name, or of itself.
func box(like ast.PositionHolder, name string, fresh bool) ast.Stmt {
	value, target := &ast.IdentExpr{Value: name}, &ast.IdentExpr{Value: name}
	table := &ast.TableExpr{Fields: []*ast.Field{{Value: value}}}
	var s ast.Stmt = &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{table}}
	if fresh {
		s = &ast.LocalAssignStmt{Names: []string{name}, Exprs: []ast.Expr{table}}
	}
	for _, node := range []ast.PositionHolder{value, target, table, s} {
		node.SetLine(like.Line())
	}
	return s
}

// unbox is the element of a variable's box.
func unbox(name *ast.IdentExpr) ast.Expr {
	key := &ast.NumberExpr{Value: "1"}
	e := &ast.AttrGetExpr{Object: name, Key: key}
	place(key, name)
	place(e, name)
	return e
}

func (r *rewriter) local(out []ast.Stmt, s *ast.LocalAssignStmt) []ast.Stmt {
	variables := r.declared[s]
	if isLocalFunction(s) && variables[0].boxed() {
		return r.boxedFunction(out, s)
	}
	if !isLocalFunction(s) && len(s.Exprs) == 1 && len(s.Names) == 1 {
		if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok { // which gopher-lua would take for "local function"
			none := &ast.NilExpr{}
			place(none, f)
			s.Exprs = append(s.Exprs, none)
		}
	}
	r.expressions(s.Exprs)
	out = append(out, s)
	for i, v := range variables {
		if v.boxed() {
			out = append(out, box(s, s.Names[i], false))
		}
	}
	return out
}

// boxedFunction is "local function f" of an f that is assigned to later: the box is there before the function is.
func (r *rewriter) boxedFunction(out []ast.Stmt, s *ast.LocalAssignStmt) []ast.Stmt {
	empty, name := &ast.TableExpr{}, &ast.IdentExpr{Value: s.Names[0]}
	declare := &ast.LocalAssignStmt{Names: s.Names, Exprs: []ast.Expr{empty}}
	for _, node := range []ast.PositionHolder{empty, name, declare} {
		node.SetLine(s.Line())
	}
	assign := &ast.AssignStmt{Lhs: []ast.Expr{unbox(name)}, Rhs: []ast.Expr{r.expression(s.Exprs[0])}}
	assign.SetLine(s.Line())
	return append(out, declare, assign)
}

func (r *rewriter) assign(out []ast.Stmt, s *ast.AssignStmt) []ast.Stmt {
	if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		return append(out, r.store(s, s.Lhs[0], r.expression(s.Rhs[0])))
	}
	return append(out, r.assignSeveral(s))
}

// assignSeveral is an assignment to several places: tables and keys first, then the values, then the places, from the last to the first as Lua does.
func (r *rewriter) assignSeveral(s *ast.AssignStmt) ast.Stmt {
	parts := &ast.LocalAssignStmt{}
	parts.SetLine(s.Line())
	hold := func(e ast.Expr) ast.Expr {
		name := "\x00" + strconv.Itoa(len(parts.Names))
		parts.Names = append(parts.Names, name)
		if e != nil {
			parts.Exprs = append(parts.Exprs, single(e))
		}
		held := &ast.IdentExpr{Value: name}
		held.SetLine(s.Line())
		r.uses[held] = &variable{}
		return held
	}
	targets := make([]ast.Expr, len(s.Lhs))
	for i, target := range s.Lhs {
		targets[i] = target
		if at, ok := target.(*ast.AttrGetExpr); ok {
			copied := &ast.AttrGetExpr{Object: hold(r.expression(at.Object)), Key: hold(r.expression(at.Key))}
			place(copied, at)
			targets[i] = copied
		}
	}
	values := make([]ast.Expr, len(targets))
	for i := range values {
		values[i] = hold(nil)
	}
	r.expressions(s.Rhs)
	parts.Exprs = append(parts.Exprs, s.Rhs...)
	block := &ast.DoBlockStmt{Stmts: []ast.Stmt{parts}}
	for i := len(targets) - 1; i >= 0; i-- {
		block.Stmts = append(block.Stmts, r.store(s, targets[i], values[i]))
	}
	place(block, s)
	return block
}

// store assigns a value, already rewritten, to one place.
func (r *rewriter) store(s *ast.AssignStmt, target, value ast.Expr) ast.Stmt {
	switch at := target.(type) {
	case *ast.AttrGetExpr:
		return statement(call(nameSet, at, r.expression(at.Object), r.expression(at.Key), single(value)))
	case *ast.IdentExpr:
		switch v := r.uses[at]; {
		case v == nil:
			name := &ast.StringExpr{Value: at.Value}
			place(name, at)
			return statement(call(nameGlobal, at, name, single(value)))
		case v.boxed():
			target = unbox(at)
		}
	}
	out := &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{value}}
	place(out, s)
	return out
}

func statement(e ast.Expr) ast.Stmt {
	s := &ast.FuncCallStmt{Expr: e}
	place(s, e)
	return s
}

// call is a call of a function of operators.go.
func call(name string, like ast.PositionHolder, args ...ast.Expr) *ast.FuncCallExpr {
	f := &ast.IdentExpr{Value: name}
	e := &ast.FuncCallExpr{Func: f, Args: args}
	place(f, like)
	place(e, like)
	return e
}

// single is an expression that is one value, as in parentheses.
func single(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return e
}
