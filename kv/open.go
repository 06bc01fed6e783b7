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
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Open opens or creates the store in dir. Errors to test for: ErrLocked, ErrFormat, ErrCorrupt, ErrDiskFull,
// ErrOptions, ErrReadOnly on a read-only file system, and fs.ErrNotExist when ReadOnly finds no store. A failed Open leaves the directory as a
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
	s := &Store{readOnly: o.ReadOnly, memLimit: uint64(o.MemTables) * o.MemTableBytes, l0Limit: int32(o.L0Tables),
		rows: newRowCache(max(o.RowBytes, 0)), handles: newHandles(), throttle: newThrottle(), log: o.Logger}
	s.latch = newLatch(o.Logger, s.throttle.poke)
	s.fs = newLatchFS(o.FS, dir, s.latch)
	err = s.claim(dir)
	if err == nil {
		err = s.start(dir, o)
	}
	if err != nil {
		return nil, wrap("open "+dir, errors.Join(err, s.fs.unlock()))
	}
	return s, nil
}

func (s *Store) start(dir string, o Options) (err error) {
	po := o.engine()
	po.FS = s.fs
	po.Logger = s.latch
	po.EventListener = s.events()
	po.Experimental.ValueSeparationPolicy = s.separation.policy
	compactions := newScheduler(func() bool { return s.latch.failure() != nil })
	po.Experimental.CompactionScheduler = compactions
	defer func() {
		if r := recover(); r != nil { // the engine panics on some failures of opening
			err = errors.Join(s.latch.failure(), panicked(r))
		}
		if s.db == nil {
			s.latch.enter(dead)
		}
		// A failed opening does not end the jobs that it has begun. They find no table (see latchFS.Open) but look
		// for it in the cache of files, which is left to them.
		if s.db != nil || !compactions.registered() {
			po.FileCache.Unref()
			po.Cache.Unref()
		}
	}()
	if s.db, err = pebble.Open(dir, po); err != nil {
		return errors.Join(s.latch.failure(), err)
	}
	if cause := s.latch.failure(); cause != nil {
		s.latch.enter(closing)
		return errors.Join(cause, s.db.Close())
	}
	s.latch.enter(running)
	compactions.start()
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

// claim locks an existing directory and checks that it holds a store or may hold a new one. A directory that
// is not there yet is made, durably, and locked by the engine.
func (s *Store) claim(dir string) error {
	names, err := s.fs.FS.List(dir)
	if errors.Is(err, iofs.ErrNotExist) && !s.readOnly {
		return nil
	}
	if err != nil {
		return err
	}
	if !slices.Contains(names, lockName) {
		// Not a store that is open: look before the lock puts a file into a stranger's directory.
		if err := inspect(names, s.readOnly); err != nil {
			return err
		}
	}
	if err := s.lock(dir); err != nil {
		return err
	}
	if names, err = s.fs.FS.List(dir); err != nil {
		return err
	}
	return inspect(names, s.readOnly)
}

// lock takes the lock of an existing directory. On a read-only file system there is none to take, and no need.
func (s *Store) lock(dir string) error {
	_, err := s.fs.Lock(s.fs.PathJoin(dir, lockName))
	if !errors.Is(err, syscall.EROFS) {
		return err
	}
	if !s.readOnly {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	s.fs.lock = io.NopCloser(nil) // the engine asks, too
	return nil
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
