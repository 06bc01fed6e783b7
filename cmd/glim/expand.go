package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Causes of an entry of a folder, or of an argument, that is left out.
var (
	errDatabase   = errors.New("the directory of a database")
	errRepository = errors.New("a version control repository")
	errLink       = errors.New("a link; name it to read what it leads to")
	errSpecial    = errors.New("a pipe, a socket or a device")
)

// input is one path to read.
type input struct {
	path   string
	walked bool // found inside a folder
}

// expansion turns arguments into paths.
type expansion struct {
	skip  func(path string, why error)
	paths []input
	seen  map[string]bool
	errs  []error
}

// expand turns arguments (files, folders, globs) into a sorted list of paths without repeats. Folders
// are walked; hidden entries in them are left out; databases, repositories, links and what is no file with a
// word to skip. An argument that matches nothing is an error of its own in errs.
func expand(args []string, skip func(path string, why error)) (paths []input, errs []error) {
	x := &expansion{skip: skip, seen: make(map[string]bool)}
	for _, arg := range args {
		if arg == stdinArg {
			x.add(arg, false)
			continue
		}
		if _, err := os.Lstat(arg); err != nil {
			if !x.glob(arg) {
				x.refuse(arg, err)
			}
			continue
		}
		x.named(arg)
	}
	slices.SortFunc(x.paths, func(a, b input) int { return strings.Compare(a.path, b.path) })
	return x.paths, x.errs
}

func (x *expansion) add(p string, walked bool) {
	p = filepath.Clean(p)
	if !x.seen[p] {
		x.seen[p] = true
		x.paths = append(x.paths, input{p, walked})
	}
}

func (x *expansion) refuse(p string, err error) {
	x.errs = append(x.errs, &inputError{p, cause(err)})
}

// named takes a file or folder that is there.
func (x *expansion) named(p string) {
	switch st, err := os.Stat(p); {
	case err != nil:
		x.refuse(p, err)
	case st.IsDir():
		x.walk(p, anything)
	default:
		x.add(p, false)
	}
}

// glob takes what a pattern stands for, as a shell would have done, and says whether that is anything. With
// ** as a part of it, the folders below its fixed beginning are walked like those that are named.
func (x *expansion) glob(pattern string) bool {
	parts := globParts(pattern)
	if slices.Contains(parts, "**") {
		base, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
		if st, err := os.Stat(base); err != nil || !st.IsDir() || !doublestar.ValidatePattern(rest) {
			return false
		}
		return x.walk(base, selection{rest, parts})
	}
	matches, _ := doublestar.FilepathGlob(pattern, doublestar.WithNoHidden()) // of a bad pattern: none
	found := false
	for _, m := range matches {
		// The library takes a class such as [!a] for an explicit beginning.
		if !slices.ContainsFunc(parts, dotted) && slices.ContainsFunc(globParts(m), dotted) {
			continue
		}
		x.named(m)
		found = true
	}
	return found
}

// globParts are the segments of a pattern, those inside braces included.
func globParts(pattern string) []string {
	return strings.FieldsFunc(filepath.ToSlash(pattern), func(r rune) bool { return strings.ContainsRune("/{,}", r) })
}

// dotted tells the segment of something hidden.
func dotted(segment string) bool {
	return strings.HasPrefix(segment, ".") && segment != "." && segment != ".."
}

// selection says what a walk takes: what the pattern, relative to its root, matches, and all that is below a
// folder that it matches.
type selection struct {
	pattern string
	parts   []string
}

var anything = selection{pattern: "**"}

func (s selection) takes(rel string) bool {
	for ; rel != "."; rel = path.Dir(rel) {
		if doublestar.MatchUnvalidated(s.pattern, rel) {
			return true
		}
	}
	return false
}

// hides says whether an entry is left out because its name begins with a dot, and no segment of the pattern
// that begins so stands for it.
func (s selection) hides(name string) bool {
	return dotted(name) && !slices.ContainsFunc(s.parts, func(part string) bool {
		return dotted(part) && doublestar.MatchUnvalidated(part, name)
	})
}

// walk takes the files below root that sel selects, and says whether it met any of them, or an error.
func (x *expansion) walk(root string, sel selection) (found bool) {
	if st, err := os.Lstat(root); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // a link that was named is followed
	}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			found = true
			x.refuse(p, err)
			return nil
		}
		if p != root && sel.hides(d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			why, err := foreign(p)
			switch {
			case err != nil:
				found = true
				x.refuse(p, err)
			case why == nil:
				return nil
			case p == root: // it was asked for by name
				found = true
				x.refuse(p, why)
			default:
				x.skip(p, why)
			}
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, p)
		if err != nil || !sel.takes(filepath.ToSlash(rel)) {
			return err
		}
		found = true
		switch {
		case d.Type().IsRegular():
			x.add(p, true)
		case d.Type()&fs.ModeSymlink != 0:
			// It may lead out of the folder, or to a file of it, which would be read twice.
			x.skip(p, errLink)
		default:
			x.skip(p, errSpecial)
		}
		return nil
	})
	if err != nil {
		x.refuse(root, err)
	}
	return found
}

// foreign says why the files of a folder are no documents: it is a database (ours, or any other of Pebble,
// RocksDB or LevelDB) or the inside of a Git repository. nil for any other folder.
func foreign(dir string) (why, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool)
	for _, e := range entries {
		name := e.Name()
		if prefix, number, ok := strings.Cut(name, "-"); ok && prefix == "MANIFEST" && strings.Trim(number, "0123456789") == "" {
			name = prefix
		} else if strings.HasPrefix(name, "marker.manifest.") {
			name = "CURRENT" // Pebble's
		}
		has[name] = true
	}
	switch {
	case has["MANIFEST"] && has["CURRENT"]:
		return errDatabase, nil
	case has["HEAD"] && has["objects"] && has["refs"]:
		return errRepository, nil
	}
	return nil, nil
}
