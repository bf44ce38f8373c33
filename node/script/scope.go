package script

import "github.com/yuin/gopher-lua/ast"

// variable is a local variable of a script.
type variable struct {
	function *enclosing
	captured bool // a function inside of its own uses it
	assigned bool // something is assigned to it after its declaration
}

// boxed reports whether a variable lives in a table of one element: gopher-lua gives every closure a copy of its own of each variable of the functions that are
// running when an error is raised, so that what pcall returns to, and its closures, would not see each other's assignments any more.
func (v *variable) boxed() bool { return v.captured && v.assigned }

// enclosing is a function whose body is being read.
type enclosing struct{ outer *enclosing }

// scope is a block, and the variables declared in it so far.
type scope struct {
	outer     *scope
	function  *enclosing
	variables map[string]*variable
}

// resolver finds out which variable each name means.
type resolver struct {
	now      *scope
	uses     map[*ast.IdentExpr]*variable
	declared map[any][]*variable // by the statement, or function, that declares them
	depth    int

	constants map[string]struct{} // texts, numbers and names: gopher-lua compares each one with all before it
}

// resolve goes through a script.
func resolve(chunk []ast.Stmt) *resolver {
	r := &resolver{uses: make(map[*ast.IdentExpr]*variable), declared: make(map[any][]*variable), constants: make(map[string]struct{})}
	r.now = &scope{function: &enclosing{}}
	r.block(chunk)
	return r
}

func (r *resolver) open() {
	r.now = &scope{outer: r.now, function: r.now.function}
}

func (r *resolver) close() { r.now = r.now.outer }

func (r *resolver) declare(by any, names ...string) {
	if r.now.variables == nil {
		r.now.variables = make(map[string]*variable)
	}
	for _, name := range names {
		v := &variable{function: r.now.function}
		r.now.variables[name] = v
		r.declared[by] = append(r.declared[by], v)
	}
}

func (r *resolver) find(name string) *variable {
	for s := r.now; s != nil; s = s.outer {
		if v := s.variables[name]; v != nil {
			v.captured = v.captured || v.function != r.now.function
			return v
		}
	}
	return nil
}

// enter counts how deep statements and expressions are inside of each other.
func (r *resolver) enter() {
	if r.depth++; r.depth > maxSyntaxLevels {
		panic(syntaxError("chunk has too many syntax levels"))
	}
}

func (r *resolver) leave() { r.depth-- }

func (r *resolver) block(list []ast.Stmt) {
	for i := range list {
		r.statement(&list[i])
	}
}

func (r *resolver) inner(list []ast.Stmt) {
	r.open()
	r.block(list)
	r.close()
}

func (r *resolver) statement(at *ast.Stmt) {
	r.enter()
	defer r.leave()
	switch s := (*at).(type) {
	case *ast.AssignStmt:
		r.assign(s)
	case *ast.LocalAssignStmt:
		r.local(s)
	case *ast.FuncCallStmt:
		r.expression(s.Expr)
	case *ast.DoBlockStmt:
		r.inner(s.Stmts)
	case *ast.WhileStmt:
		r.expression(s.Condition)
		r.inner(s.Stmts)
	case *ast.RepeatStmt:
		r.open()
		r.block(s.Stmts)
		r.expression(s.Condition)
		r.close()
	case *ast.IfStmt:
		r.expression(s.Condition)
		r.inner(s.Then)
		r.inner(s.Else)
	case *ast.NumberForStmt:
		r.expressions(s.Init, s.Limit, s.Step)
		r.loop(s, s.Stmts, s.Name)
	case *ast.GenericForStmt:
		r.expressions(s.Exprs...)
		r.loop(s, s.Stmts, s.Names...)
	case *ast.FuncDefStmt:
		assign := define(s)
		*at = assign
		r.assign(assign)
	case *ast.ReturnStmt:
		r.expressions(s.Exprs...)
	}
}

// define returns function a.b:c() as the assignment that it is.
func define(s *ast.FuncDefStmt) *ast.AssignStmt {
	target := s.Name.Func
	if target == nil {
		key := &ast.StringExpr{Value: s.Name.Method}
		target = &ast.AttrGetExpr{Object: s.Name.Receiver, Key: key}
		s.Func.ParList.Names = append([]string{"self"}, s.Func.ParList.Names...)
		place(key, s)
		place(target, s)
	}
	assign := &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{s.Func}}
	place(assign, s)
	return assign
}

func (r *resolver) assign(s *ast.AssignStmt) {
	r.expressions(s.Lhs...)
	for _, target := range s.Lhs {
		if name, ok := target.(*ast.IdentExpr); ok && r.uses[name] != nil {
			r.uses[name].assigned = true
		}
	}
	r.expressions(s.Rhs...)
}

// local is a declaration; "local function f" knows f inside of it, "local f = function" does not.
func (r *resolver) local(s *ast.LocalAssignStmt) {
	if isLocalFunction(s) {
		r.declare(s, s.Names...)
		r.expressions(s.Exprs...)
		return
	}
	r.expressions(s.Exprs...)
	r.declare(s, s.Names...)
}

// isLocalFunction: the parser gives "local function f" a last line, and "local f = function" none.
func isLocalFunction(s *ast.LocalAssignStmt) bool {
	return s.LastLine() != 0 && len(s.Exprs) == 1
}

func (r *resolver) loop(by any, body []ast.Stmt, names ...string) {
	r.open()
	r.declare(by, names...)
	r.inner(body)
	r.close()
}

func (r *resolver) expressions(list ...ast.Expr) {
	for _, e := range list {
		if e != nil {
			r.expression(e)
		}
	}
}

func (r *resolver) expression(e ast.Expr) {
	r.enter()
	defer r.leave()
	switch e := e.(type) {
	case *ast.IdentExpr:
		if v := r.find(e.Value); v != nil {
			r.uses[e] = v
		} else {
			r.constant(e.Value)
		}
	case *ast.StringExpr:
		r.constant(e.Value)
	case *ast.NumberExpr:
		r.constant(e.Value)
	case *ast.AttrGetExpr:
		r.expressions(e.Object, e.Key)
	case *ast.TableExpr:
		if len(e.Fields) > 2*maxElements {
			panic(syntaxError("function or expression too complex"))
		}
		for _, field := range e.Fields {
			r.expressions(field.Key, field.Value)
		}
	case *ast.FuncCallExpr:
		r.expressions(e.Func, e.Receiver)
		r.expressions(e.Args...)
	case *ast.LogicalOpExpr:
		r.expressions(e.Lhs, e.Rhs)
	case *ast.RelationalOpExpr:
		r.expressions(e.Lhs, e.Rhs)
	case *ast.StringConcatOpExpr:
		r.expressions(e.Lhs, e.Rhs)
	case *ast.ArithmeticOpExpr:
		r.expressions(e.Lhs, e.Rhs)
	case *ast.UnaryMinusOpExpr:
		r.expression(e.Expr)
	case *ast.UnaryNotOpExpr:
		r.expression(e.Expr)
	case *ast.UnaryLenOpExpr:
		r.expression(e.Expr)
	case *ast.FunctionExpr:
		r.function(e)
	}
}

// maxConstants is how many different constants a script may have, so that it is compiled in less than a second.
const maxConstants = 20_000

func (r *resolver) constant(text string) {
	if r.constants[text] = struct{}{}; len(r.constants) > maxConstants {
		panic(syntaxError("constant table overflow"))
	}
}

func (r *resolver) function(e *ast.FunctionExpr) {
	outer := r.now
	r.now = &scope{outer: outer, function: &enclosing{outer: outer.function}}
	r.declare(e, e.ParList.Names...)
	r.inner(e.Stmts)
	r.now = outer
}
