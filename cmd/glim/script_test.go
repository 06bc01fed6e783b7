package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db"
	"github.com/rivo/uniseg"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the command as people do. Each script finds the shipped corpus as ./corpus; every
// database below its folder is checked at its end.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "scripts"),
		Setup: func(e *testscript.Env) error {
			for _, v := range os.Environ() { // the tester's own settings are none of the scripts'
				if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GLIM_") || strings.HasPrefix(name, "OPENAI_") {
					e.Setenv(name, "")
				}
			}
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("HOME", e.WorkDir)
			e.Defer(func() { checkAll(e.T(), e.WorkDir) })
			return os.CopyFS(filepath.Join(e.WorkDir, "corpus"), os.DirFS(filepath.Join("..", "..", "testdata", "corpus")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"json":    isJSON,
			"graphml": isGraphML,
			"bytes":   writeBytes,
			"hold":    hold,
			"model":   startModel,
			"columns": columns,
			"vectors": writeVectors,
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Geteuid() == 0, nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// checkAll wants every database below dir to be sound.
func checkAll(t testscript.T, dir string) {
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || filepath.Ext(p) != ".db" {
			return err
		}
		if err := checkOne(p); err != nil {
			return err
		}
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkOne(dir string) error {
	d, err := db.Open(dir, db.WithOptions(db.Options{ReadOnly: true}))
	if err != nil {
		return err
	}
	var found []error
	for name, err := range d.Workspaces(context.Background()) {
		if err != nil {
			return errors.Join(err, d.Close())
		}
		w, err := d.Workspace(name)
		if err != nil {
			return errors.Join(err, d.Close())
		}
		for problem, err := range w.Check(context.Background()) {
			if err == nil {
				err = errors.New(problem.String())
			}
			found = append(found, fmt.Errorf("check workspace %q of %s: %w", name, dir, err))
		}
	}
	return errors.Join(append(found, d.Close())...)
}

// exits CODE PROGRAM ARGS... runs a program and wants this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ee, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ee.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// json FILE PATH... wants JSON that has every path: names and indexes joined by dots, len for the
// length of a list, first for its first element. A path ending in =VALUE wants that value.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: json FILE PATH...")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	dec.UseNumber()
	var root any
	ts.Check(dec.Decode(&root))
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s: more than one value", args[0])
	}
	snakeCase(ts, root, "")
	for _, path := range args[1:] {
		path, want, compare := strings.Cut(path, "=")
		v := root
		for name := range strings.SplitSeq(path, ".") {
			v = step(ts, v, name, path)
		}
		if got := fmt.Sprint(v); compare && got != want {
			ts.Fatalf("%s is %q, want %q", path, got, want)
		}
	}
}

// byName are the fields that are maps from names of the user's or the model's.
var byName = []string{"refused", "skipped", "errors", "metadata", "properties", "notes"}

// snakeCase wants all names of fields to be alike.
func snakeCase(ts *testscript.TestScript, v any, at string) {
	switch c := v.(type) {
	case map[string]any:
		for name, e := range c {
			if !slices.Contains(byName, at) && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				ts.Fatalf("field %q in %q", name, at)
			}
			snakeCase(ts, e, name)
		}
	case []any:
		for _, e := range c {
			snakeCase(ts, e, at)
		}
	}
}

func step(ts *testscript.TestScript, v any, name, path string) any {
	switch c := v.(type) {
	case map[string]any:
		if e, ok := c[name]; ok {
			return e
		}
		ts.Fatalf("%s: no field %q", path, name)
	case []any:
		i, err := strconv.Atoi(name)
		switch {
		case name == "first":
			i = 0
		case name == "len":
			return len(c)
		case err != nil:
			ts.Fatalf("%s: %q is no index", path, name)
		}
		if i >= len(c) {
			ts.Fatalf("%s: only %d elements", path, len(c))
		}
		return c[i]
	}
	ts.Fatalf("%s: %q of a %T", path, name, v)
	return nil
}

// graphml FILE NAME... wants a valid GraphML document that has nodes of these names.
func isGraphML(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: graphml FILE NAME...")
	}
	g, err := parseGraphML(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	for _, name := range args[1:] {
		if !slices.ContainsFunc(g.Graph.Nodes, func(n graphMLNode) bool { return n.ID == name }) {
			ts.Fatalf("no node %q", name)
		}
	}
}

type graphMLData struct {
	Key   string `xml:"key,attr"`
	Value string `xml:",chardata"`
}

type graphMLNode struct {
	ID   string        `xml:"id,attr"`
	Data []graphMLData `xml:"data"`
}

type graphMLDoc struct {
	XMLName xml.Name `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
	Keys    []struct {
		ID   string `xml:"id,attr"`
		For  string `xml:"for,attr"`
		Name string `xml:"attr.name,attr"`
		Type string `xml:"attr.type,attr"`
	} `xml:"key"`
	Graph struct {
		EdgeDefault string        `xml:"edgedefault,attr"`
		Nodes       []graphMLNode `xml:"node"`
		Edges       []struct {
			Source string        `xml:"source,attr"`
			Target string        `xml:"target,attr"`
			Data   []graphMLData `xml:"data"`
		} `xml:"edge"`
	} `xml:"graph"`
}

// parseGraphML reads GraphML and holds it to the rules of the format: declared keys of the right kind and
// type, unique node ids, edges between existing nodes.
func parseGraphML(r io.Reader) (*graphMLDoc, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(raw) || bytes.ContainsRune(raw, 0xFFFE) || bytes.ContainsRune(raw, 0xFFFF) {
		return nil, errors.New("characters that XML forbids")
	}
	var g graphMLDoc
	dec := xml.NewDecoder(bytes.NewReader(raw))
	dec.Strict = true
	if err := dec.Decode(&g); err != nil {
		return nil, err
	}
	keys := make(map[string]string)
	types := make(map[string]string)
	for _, k := range g.Keys {
		if _, twice := keys[k.ID]; twice || k.Name == "" || !slices.Contains([]string{"string", "long", "double", "boolean"}, k.Type) {
			return nil, fmt.Errorf("bad key %+v", k)
		}
		keys[k.ID], types[k.ID] = k.For, k.Type
	}
	check := func(kind string, data []graphMLData) error {
		for _, d := range data {
			if keys[d.Key] != kind {
				return fmt.Errorf("%s data under key %q, which is for %q", kind, d.Key, keys[d.Key])
			}
			var err error
			switch types[d.Key] {
			case "long":
				_, err = strconv.ParseInt(d.Value, 10, 64)
			case "double":
				_, err = strconv.ParseFloat(d.Value, 64)
			case "boolean":
				_, err = strconv.ParseBool(d.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	nodes := make(map[string]bool)
	for _, n := range g.Graph.Nodes {
		if nodes[n.ID] {
			return nil, fmt.Errorf("node %q twice", n.ID)
		}
		nodes[n.ID] = true
		if err := check("node", n.Data); err != nil {
			return nil, err
		}
	}
	for _, e := range g.Graph.Edges {
		if !nodes[e.Source] || !nodes[e.Target] {
			return nil, fmt.Errorf("edge %q - %q ends nowhere", e.Source, e.Target)
		}
		if err := check("edge", e.Data); err != nil {
			return nil, err
		}
	}
	return &g, nil
}

// bytes FILE QUOTED writes the bytes of a Go string, which archives of text cannot hold.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes FILE QUOTED")
	}
	s, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(s), 0o600))
}

// hold DIR keeps a database open until the script ends, so that the command finds it in use.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold DIR")
	}
	d, err := db.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { ts.Check(d.Close()) })
}

// columns FILE N wants no line of FILE to be wider than N.
func columns(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: columns FILE N")
	}
	most, err := strconv.Atoi(args[1])
	ts.Check(err)
	for l := range strings.Lines(ts.ReadFile(args[0])) {
		if w := uniseg.StringWidth(strings.TrimRight(l, "\n")); w > most {
			ts.Fatalf("%d columns: %s", w, l)
		}
	}
}
