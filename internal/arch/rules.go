package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

type rule struct {
	name  string
	why   string
	check func(m *module) []Finding
}

const (
	maxFileLines = 700 // a file that fills 12 screens has more than one subject
	maxDocLines  = 60  // one screen
)

var rules = []rule{
	{"table", "every package has its place in the import table, every row its package", checkTable},
	{"imports", "layers see only what is below them, siblings never each other (internal/arch/table.go)", checkImports},
	{"testonly", "what tests share must not reach a program", checkTestOnly},
	{"confined", "each outside module stays behind the package that wraps it", checkConfined},
	{"dependencies", "every direct dependency has its reason in docs/dependencies.md, every line there its import", checkDependencies},
	{"doc", "one doc.go a package holds the only package comment, on one screen", checkDoc},
	{"size", "a file of more than 700 lines has more than one subject", checkSize},
	{"vocabulary", "the engine does not know what is stored in it", checkVocabulary},
	{"drawer", "a package is named for what it provides", checkDrawer},
	{"globals", "an exported variable can be changed by anyone, at any time", checkGlobals},
	{"exit", "a library must not end its host's process", checkExit},
	{"checked", "what a test broke in a store shows only when the whole store is looked at", checkChecked},
	{"skip", "a test that is left out must say why", checkSkip},
	{"paths", "what names a folder of one machine works on that machine", checkPaths},
}

func checkTable(m *module) (out []Finding) {
	for dir := range m.packages {
		if _, ok := table[dir]; !ok {
			out = append(out, Finding{File: dir, What: "the package has no row in the import table"})
		}
	}
	for dir := range table {
		if m.packages[dir] == nil {
			out = append(out, Finding{File: dir, What: "the import table has a row for a package that does not exist"})
		}
	}
	return out
}

func checkImports(m *module) (out []Finding) {
	m.each(func(p *pkg, f *file) {
		r, ok := table[p.dir]
		if !ok {
			return // a finding of rule table
		}
		for _, i := range f.imports() {
			dir, ours := inModule(i.path)
			allowed := !ours || slices.Contains(r.imports, dir) || slices.Contains(testOnly, dir) || // rule testonly
				f.test && (dir == p.dir || slices.Contains(r.tests, dir))
			if !allowed {
				out = append(out, p.find(f, i.pos, m, "%s may not import %s", p.dir, i.path))
			}
		}
	})
	return out
}

func checkTestOnly(m *module) (out []Finding) {
	m.each(func(p *pkg, f *file) {
		if f.test || slices.Contains(testOnly, p.dir) {
			return
		}
		for _, i := range f.imports() {
			if dir, ours := inModule(i.path); ours && slices.Contains(testOnly, dir) {
				out = append(out, p.find(f, i.pos, m, "%s is for tests only", i.path))
			}
		}
	})
	return out
}

func checkConfined(m *module) (out []Finding) {
	m.each(func(p *pkg, f *file) {
		for _, i := range f.imports() {
			for _, c := range confined {
				if i.path != c.module && !strings.HasPrefix(i.path, c.module+"/") {
					continue
				}
				if !slices.Contains(c.places, p.dir) && !slices.Contains(c.places, f.path) && !(c.tests && f.test) {
					out = append(out, p.find(f, i.pos, m, "%s may not be imported here: %s", i.path, c.why))
				}
				break // the first, narrower entry decides
			}
		}
	})
	return out
}

var dependencyRow = regexp.MustCompile("(?m)^\\|\\s*`([^`]+)`")

func checkDependencies(m *module) (out []Finding) {
	const doc = "docs/dependencies.md"
	text, err := os.ReadFile(filepath.Join(m.root, filepath.FromSlash(doc)))
	if err != nil {
		return []Finding{{File: doc, What: err.Error()}}
	}
	listed := map[string]bool{} // module -> imported
	for _, match := range dependencyRow.FindAllStringSubmatch(string(text), -1) {
		listed[match[1]] = false
	}
	modules := m.modules()
	m.each(func(p *pkg, f *file) {
		for _, i := range f.imports() {
			if !thirdParty(i.path) {
				continue
			}
			mod := moduleOf(modules, i.path)
			if mod == "" {
				out = append(out, p.find(f, i.pos, m, "no module of go.mod holds %s", i.path))
			} else if _, ok := listed[mod]; !ok {
				out = append(out, p.find(f, i.pos, m, "%s is not listed in %s", mod, doc))
			} else {
				listed[mod] = true
			}
		}
	})
	for mod, used := range listed {
		if !used {
			out = append(out, Finding{File: doc, What: fmt.Sprintf("%s is listed but not imported", mod)})
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.What, b.What) })
	return out
}

func checkDoc(m *module) (out []Finding) {
	for dir, p := range m.packages {
		found := false
		for _, f := range p.files {
			isDoc := path.Base(f.path) == "doc.go"
			switch {
			case isDoc && f.ast.Doc == nil:
				out = append(out, Finding{File: f.path, What: "doc.go has no package comment"})
			case !isDoc && f.ast.Doc != nil:
				out = append(out, p.find(f, f.ast.Doc.Pos(), m, "a package comment outside doc.go"))
			}
			if isDoc && f.ast.Doc != nil {
				if n := strings.Count(f.ast.Doc.Text(), "\n"); n > maxDocLines {
					out = append(out, p.find(f, f.ast.Doc.Pos(), m, "the package comment has %d lines, at most %d", n, maxDocLines))
				}
			}
			found = found || isDoc
		}
		if !found {
			out = append(out, Finding{File: dir, What: "the package has no doc.go"})
		}
	}
	return out
}

func checkSize(m *module) (out []Finding) {
	m.each(func(_ *pkg, f *file) {
		if f.lines > maxFileLines && !f.generated {
			out = append(out, Finding{File: f.path, Line: f.lines, What: fmt.Sprintf("%d lines, at most %d", f.lines, maxFileLines)})
		}
	})
	return out
}

var (
	engine    = words("kv wal vector graph postings")
	forbidden = words("Doc Chunk Entity Prompt")
)

// checkVocabulary looks at every name but those selected from something else (slices.Chunk): a field or a
// function of ours is found where it is declared. A name is reported once a file.
func checkVocabulary(m *module) (out []Finding) {
	m.each(func(p *pkg, f *file) {
		if !slices.ContainsFunc(engine, func(e string) bool { return under(p.dir, e) }) {
			return
		}
		selected := map[*ast.Ident]bool{}
		reported := map[string]bool{}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				selected[n.Sel] = true
			case *ast.Ident:
				if w := forbiddenWord(n.Name); w != "" && !selected[n] && !reported[n.Name] {
					reported[n.Name] = true
					out = append(out, p.find(f, n.Pos(), m, "the name %s holds the word %s", n.Name, w))
				}
			}
			return true
		})
	})
	return out
}

// forbiddenWord finds a word where camel case begins one: in lastDocID and docs, not in undocumented.
func forbiddenWord(name string) string {
	for _, w := range forbidden {
		if strings.Contains(name, w) || strings.HasPrefix(name, strings.ToLower(w)) {
			return w
		}
	}
	return ""
}

var drawers = words("util utils common helper helpers misc shared")

func checkDrawer(m *module) (out []Finding) {
	for dir, p := range m.packages {
		name := strings.TrimSuffix(p.files[0].ast.Name.Name, "_test")
		if slices.Contains(drawers, name) || slices.Contains(drawers, path.Base(dir)) {
			out = append(out, Finding{File: dir, What: "package " + name + " is a drawer"})
		}
	}
	return out
}

func checkGlobals(m *module) (out []Finding) {
	m.each(func(p *pkg, f *file) {
		if f.test {
			return
		}
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if name.IsExported() && !isError(v, i) {
						out = append(out, p.find(f, name.Pos(), m, "exported variable %s; use a constant or a function", name.Name))
					}
				}
			}
		}
	})
	return out
}

// isError reports whether a variable is a sentinel: named ErrX and made by errors.New or fmt.Errorf,
// declared as an error, or the re-export of another package's ErrX.
func isError(v *ast.ValueSpec, i int) bool {
	rest, ok := strings.CutPrefix(v.Names[i].Name, "Err")
	if !ok || rest == "" || !unicode.IsUpper(rune(rest[0])) {
		return false
	}
	if t, ok := v.Type.(*ast.Ident); ok {
		return t.Name == "error"
	}
	if i >= len(v.Values) {
		return false
	}
	switch e := v.Values[i].(type) {
	case *ast.CallExpr:
		return selects(e.Fun, "errors", "New") || selects(e.Fun, "fmt", "Errorf")
	case *ast.SelectorExpr:
		return strings.HasPrefix(e.Sel.Name, "Err")
	}
	return false
}

func selects(e ast.Expr, x, sel string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != sel {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == x
}

// checkExit allows os.Exit in tests, for TestMain and for child processes that tests kill.
func checkExit(m *module) (out []Finding) {
	m.each(func(p *pkg, f *file) {
		if under(p.dir, "cmd") && path.Base(f.path) == "main.go" {
			return
		}
		if f.test && strings.HasPrefix(path.Base(f.path), "example") {
			return // an example shows what a program's main would do
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch {
			case x.Name == "os" && s.Sel.Name == "Exit" && !f.test,
				x.Name == "log" && (strings.HasPrefix(s.Sel.Name, "Fatal") || strings.HasPrefix(s.Sel.Name, "Panic")):
				out = append(out, p.find(f, s.Pos(), m, "%s.%s", x.Name, s.Sel.Name))
			}
			return true
		})
	})
	return out
}
