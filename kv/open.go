package kv

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Open opens or creates the store in dir. Errors to test for: ErrLocked, ErrFormat, ErrCorrupt, ErrDiskFull,
// ErrOptions, and fs.ErrNotExist when ReadOnly finds no store. A failed Open leaves the directory as a
// crash would, and nothing running.
func Open(dir string, o Options) (_ *Store, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.FS == vfs.Default {
		// Locks within one process are kept by name: two names of one directory must become one.
		if dir, err = canonical(dir); err != nil {
			return nil, wrap("open", err)
		}
	}
	lock, err := claim(o.FS, dir, o.ReadOnly)
	if err != nil {
		return nil, wrap("open "+dir, err)
	}
	s := &Store{readOnly: o.ReadOnly, memLimit: uint64(o.MemTables) * o.MemTableBytes, l0Limit: int32(o.L0Tables), lock: lock,
		handles: newHandles(), throttle: newThrottle(), log: o.Logger}
	s.latch = newLatch(o.Logger, s.throttle.poke)
	po := o.engine()
	defer po.Cache.Unref()
	s.fs = newLatchFS(o.FS, dir, s.latch)
	po.FS = s.fs
	po.Logger = s.latch
	po.Lock = lock
	po.EventListener = s.events()
	if err := s.start(dir, po); err != nil {
		if lock != nil {
			err = errors.Join(err, lock.Close())
		}
		return nil, wrap("open "+dir, err)
	}
	return s, nil
}

func (s *Store) start(dir string, po *pebble.Options) (err error) {
	defer func() {
		if r := recover(); r != nil { // the engine panics on some failures of opening
			err = panicked(r)
		}
	}()
	if s.db, err = pebble.Open(dir, po); err != nil {
		return err
	}
	if cause := s.latch.err(); cause != nil {
		return errors.Join(cause, s.db.Close())
	}
	s.latch.enter(running)
	return nil
}

// canonical returns the absolute path of dir with the links of its existing part resolved.
func canonical(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := dir; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, iofs.ErrNotExist) || at == filepath.Dir(at) {
			return "", err
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// claim locks an existing directory and checks that it holds a store or may hold a new one. It returns nil
// for a directory that is not there yet: the engine then makes it durably, and locks it.
func claim(fs vfs.FS, dir string, readOnly bool) (*pebble.Lock, error) {
	names, err := fs.List(dir)
	if errors.Is(err, iofs.ErrNotExist) && !readOnly {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, lockName) {
		// Not a store that is open: look before the lock puts a file into a stranger's directory.
		if err := inspect(names, readOnly); err != nil {
			return nil, err
		}
	}
	lock, err := pebble.LockDirectory(dir, lockFS{fs})
	if err != nil {
		return nil, err
	}
	if names, err = fs.List(dir); err == nil {
		err = inspect(names, readOnly)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

const lockName = "LOCK"

var engineFile = regexp.MustCompile(`^(LOCK|lost\+found|(MANIFEST|OPTIONS)-\d+|marker\..*|\d+(-\d+)?\.(log|sst|blob|dbtmp)|.*\.dbtmp)$`)

// inspect judges a directory by the names in it.
func inspect(names []string, readOnly bool) error {
	exists, remains, version := false, "", 0
	for _, n := range names {
		switch {
		case n == "CURRENT":
			return fmt.Errorf("%w: a store of another program or of an old format", ErrFormat)
		case strings.HasPrefix(n, "marker.manifest."):
			exists = true
		case strings.HasPrefix(n, "marker.format-version."):
			// marker.format-version.<change>.<version>; the highest version is in force, for it only rises.
			v, err := strconv.Atoi(n[strings.LastIndexByte(n, '.')+1:])
			if err != nil {
				return fmt.Errorf("%w: marker %q", ErrFormat, n)
			}
			version = max(version, v)
		case strings.HasSuffix(n, ".sst"), strings.HasSuffix(n, ".blob"):
			remains = n
		}
	}
	if version > int(pebble.FormatNewest) {
		return fmt.Errorf("%w: engine format %d, this program knows up to %d", ErrFormat, version, pebble.FormatNewest)
	}
	if exists {
		return nil
	}
	for _, n := range names {
		if !engineFile.MatchString(n) {
			return fmt.Errorf("%w: the directory is not a store and not empty: it holds %q", ErrFormat, n)
		}
	}
	if remains != "" {
		return fmt.Errorf("%w: the directory holds %q and no manifest", ErrCorrupt, remains)
	}
	if readOnly {
		return fmt.Errorf("the directory holds no store: %w", iofs.ErrNotExist)
	}
	return nil
}

// lockFS names the one failure of Lock that callers must tell from others.
type lockFS struct{ vfs.FS }

// Lock implements vfs.FS.
func (f lockFS) Lock(name string) (io.Closer, error) {
	c, err := f.FS.Lock(name)
	if err == nil {
		return c, nil
	}
	if heldElsewhere(err) || strings.Contains(err.Error(), "lock held by current process") {
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return nil, err
}
