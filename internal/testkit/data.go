package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// DataEnv names the folder of real data; without it the folder shared/data beside an ancestor of the
// module is used.
const DataEnv = "GLIM_DATA"

// Data returns the path of the named data set, read in place and never written. It skips the test, saying
// why, when the data is not on this machine.
func Data(t testing.TB, name string) string {
	t.Helper()
	for _, root := range dataRoots(t) {
		p := filepath.Join(root, filepath.FromSlash(name))
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	t.Skipf("data set %q is not here: set %s to the folder that holds it", name, DataEnv)
	return ""
}

func dataRoots(t testing.TB) []string {
	if env := os.Getenv(DataEnv); env != "" {
		return []string{env}
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var roots []string
	for {
		roots = append(roots, filepath.Join(dir, "shared", "data"))
		parent := filepath.Dir(dir)
		if parent == dir {
			return roots
		}
		dir = parent
	}
}

// MemFS returns an empty in-memory file system: the real engine runs on it, nothing survives the test.
func MemFS() *vfs.MemFS { return vfs.NewMem() }
