package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// calls are what the functions of one name in a package's test files do, closures included.
type calls struct {
	named         map[string]bool // calls of functions of the package, by name
	opens, checks bool            // what db.Open returns is used; a method Check is called, or the command of that name
	decls         []testFunc
}

type testFunc struct {
	file *file
	decl *ast.FuncDecl
}

// checkChecked finds tests that open a store, themselves or by functions of their package, and never call
// Check, themselves or by functions of their package. Examples show what a program does, and benchmarks check
// their answers.
func checkChecked(m *module) (out []Finding) {
	for _, p := range m.packages {
		funcs := testCalls(p)
		spread(funcs)
		for name, c := range funcs {
			if !c.opens || c.checks || !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") {
				continue
			}
			for _, d := range c.decls {
				out = append(out, p.find(d.file, d.decl.Pos(), m, "%s opens a store and never calls its Check", name))
			}
		}
	}
	return out
}

func testCalls(p *pkg) map[string]*calls {
	funcs := map[string]*calls{}
	for _, f := range p.files {
		if !f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			c := funcs[fn.Name.Name]
			if c == nil {
				c = &calls{named: map[string]bool{}}
				funcs[fn.Name.Name] = c
			}
			c.decls = append(c.decls, testFunc{f, fn})
			ast.Inspect(fn.Body, c.see)
			c.opens = c.opens || usesStore(fn.Body)
		}
	}
	return funcs
}

// see notes one call. A function that is only passed on counts as called.
func (c *calls) see(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		c.checks = c.checks || n.Sel.Name == "Check"
		c.named[n.Sel.Name] = true
	case *ast.Ident:
		c.named[n.Name] = true
	case *ast.BasicLit:
		c.checks = c.checks || n.Value == `"check"` // the command's check
	}
	return true
}

// usesStore reports whether body opens a store and does something with it. One that is dropped, or only compared
// with nil, is of a test in which opening must fail.
func usesStore(body ast.Node) bool {
	opened := map[string]bool{} // variables that hold what db.Open returned
	idle := map[*ast.Ident]bool{}
	assigned := map[*ast.CallExpr]bool{}
	used := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			call, ok := n.Rhs[0].(*ast.CallExpr)
			name, named := n.Lhs[0].(*ast.Ident)
			if ok && named && selects(call.Fun, "db", "Open") {
				opened[name.Name], idle[name], assigned[call] = name.Name != "_", true, true
			}
		case *ast.CallExpr:
			used = used || selects(n.Fun, "db", "Open") && !assigned[n]
		case *ast.BinaryExpr:
			if name, ok := n.X.(*ast.Ident); ok {
				idle[name] = true
			}
		case *ast.Ident:
			used = used || opened[n.Name] && !idle[n]
		}
		return true
	})
	return used
}

// spread gives each function what the functions do that it calls.
func spread(funcs map[string]*calls) {
	for changed := true; changed; {
		changed = false
		for _, c := range funcs {
			for name := range c.named {
				callee := funcs[name]
				if callee == nil || callee == c {
					continue
				}
				if callee.opens && !c.opens || callee.checks && !c.checks {
					c.opens, c.checks, changed = c.opens || callee.opens, c.checks || callee.checks, true
				}
			}
		}
	}
}

// checkSkip finds tests that are left out without a word.
func checkSkip(m *module) (out []Finding) {
	m.each(func(p *pkg, f *file) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(testers, x.Name) && (s.Sel.Name == "Skip" || s.Sel.Name == "SkipNow") {
				out = append(out, p.find(f, s.Pos(), m, "%s.%s without a reason", x.Name, s.Sel.Name))
			}
			return true
		})
	})
	return out
}

// testers are the usual names of a test's handle.
var testers = words("t b f tb")

// machinePath is an absolute path below the folders in which people and machines keep their work.
var machinePath = regexp.MustCompile(`(^|[^\w.~/-])/(?:root|home|Users)/\w`)

// checkPaths reads Go files and documents.
func checkPaths(m *module) (out []Finding) {
	look := func(name string) error {
		src, err := os.ReadFile(filepath.Join(m.root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(src), "\n") {
			if at := machinePath.FindString(line); at != "" {
				out = append(out, Finding{File: name, Line: i + 1, What: "the path " + strings.TrimLeft(at, "\"'`( \t") + "... of some machine"})
			}
		}
		return nil
	}
	for _, name := range append(m.documents, m.names()...) {
		if err := look(name); err != nil {
			out = append(out, Finding{File: name, What: err.Error()})
		}
	}
	return out
}
