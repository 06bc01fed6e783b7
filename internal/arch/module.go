package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Path is the module's import path.
const Path = "github.com/glimdb/db"

// Finding is one broken rule at one place.
type Finding struct {
	Rule string
	File string // slash-separated, relative to the module's root; a directory when no file is to blame
	Line int    // 0 when no line is to blame
	What string
	Why  string // the reason of the rule
}

func (f Finding) String() string {
	at := f.File
	if f.Line > 0 {
		at += ":" + strconv.Itoa(f.Line)
	}
	return fmt.Sprintf("%s: %s: %s\n\t(%s)", at, f.Rule, f.What, f.Why)
}

// Check reads the module at root and returns the findings of all rules, by rule and place.
func Check(root string) ([]Finding, error) {
	m, err := load(root)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, r := range rules {
		found := r.check(m)
		for i := range found {
			found[i].Rule, found[i].Why = r.name, r.why
		}
		slices.SortStableFunc(found, func(a, b Finding) int {
			if c := strings.Compare(a.File, b.File); c != 0 {
				return c
			}
			return a.Line - b.Line
		})
		out = append(out, found...)
	}
	return out, nil
}

type module struct {
	root     string
	fset     *token.FileSet
	packages map[string]*pkg // by directory; "." is the root

	documents []string // Markdown files, relative to the root
}

type pkg struct {
	dir   string
	files []*file
}

type file struct {
	path      string // relative to the root
	test      bool
	generated bool
	lines     int
	ast       *ast.File
}

func (p *pkg) find(f *file, pos token.Pos, m *module, format string, args ...any) Finding {
	return Finding{File: f.path, Line: m.fset.Position(pos).Line, What: fmt.Sprintf(format, args...)}
}

// load parses every Go file of the module and notes its documents: no testdata, no hidden or underscored folders, no nested
// modules.
func load(root string) (*module, error) {
	m := &module{root: root, fset: token.NewFileSet(), packages: map[string]*pkg{}}
	err := filepath.WalkDir(root, func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && skipDir(full, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(d.Name(), ".md") {
			m.documents = append(m.documents, rel)
		}
		if !strings.HasSuffix(d.Name(), ".go") || strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		return m.add(full, rel)
	})
	if err != nil {
		return nil, fmt.Errorf("arch: load: %w", err)
	}
	return m, nil
}

func skipDir(full, name string) bool {
	if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(full, "go.mod"))
	return err == nil
}

func (m *module) add(full, rel string) error {
	src, err := os.ReadFile(full)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(m.fset, rel, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(rel)
	if m.packages[dir] == nil {
		m.packages[dir] = &pkg{dir: dir}
	}
	m.packages[dir].files = append(m.packages[dir].files, &file{
		path: rel, test: strings.HasSuffix(rel, "_test.go"), generated: ast.IsGenerated(f),
		lines: strings.Count(string(src), "\n"), ast: f,
	})
	return nil
}

// each calls fn for every file, in order of path.
func (m *module) each(fn func(p *pkg, f *file)) {
	var dirs []string
	for dir := range m.packages {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		for _, f := range m.packages[dir].files {
			fn(m.packages[dir], f)
		}
	}
}

// names lists the Go files, in order of path.
func (m *module) names() (out []string) {
	m.each(func(_ *pkg, f *file) { out = append(out, f.path) })
	return out
}

// imported is one import declaration.
type imported struct {
	path string
	pos  token.Pos
}

func (f *file) imports() (out []imported) {
	for _, s := range f.ast.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err == nil {
			out = append(out, imported{p, s.Pos()})
		}
	}
	return out
}

// inModule returns the directory of an import of this module.
func inModule(p string) (dir string, ok bool) {
	if p == Path {
		return ".", true
	}
	return strings.CutPrefix(p, Path+"/")
}

// thirdParty reports whether an import is neither ours nor the standard library's.
func thirdParty(p string) bool {
	if _, ours := inModule(p); ours {
		return false
	}
	first, _, _ := strings.Cut(p, "/")
	return strings.Contains(first, ".")
}

func under(p, prefix string) bool { return p == prefix || strings.HasPrefix(p, prefix+"/") }

var requireLine = regexp.MustCompile(`(?m)^\s*(?:require\s+)?([a-zA-Z0-9.\-]+\.[a-z]+/\S+)\s+v\S+`)

// modules returns the module paths that go.mod requires.
func (m *module) modules() []string {
	b, err := os.ReadFile(filepath.Join(m.root, "go.mod"))
	if err != nil {
		return nil
	}
	var out []string
	for _, match := range requireLine.FindAllStringSubmatch(string(b), -1) {
		out = append(out, match[1])
	}
	return out
}

// moduleOf returns the longest of modules that holds the imported package.
func moduleOf(modules []string, p string) string {
	best := ""
	for _, mod := range modules {
		if under(p, mod) && len(mod) > len(best) {
			best = mod
		}
	}
	return best
}
