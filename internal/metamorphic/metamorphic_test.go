package metamorphic

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
)

var (
	seedFlag  = flag.Uint64("metamorphic.seed", 0, "seed of the only list; 0: as many as metamorphic.seeds says")
	opsFlag   = flag.String("metamorphic.ops", "", "file of operations to replay instead of drawing them")
	countFlag = flag.Int("metamorphic.n", 400, "operations in a list")
	seedsFlag = flag.Uint64("metamorphic.seeds", 2, "lists to run, with seeds from 1 on")
)

// shrinkRuns bounds the runs that go into shrinking one failure.
const shrinkRuns = 150

func configs() []Config {
	small := index.Options{ChunkTokens: 40, ChunkOverlap: 10, Workers: 1, ChunkWorkers: 1}
	smallWide := small
	smallWide.Workers, smallWide.ChunkWorkers, smallWide.EntityWords = 8, 8, index.EntityWordsOn
	return []Config{
		{"default", "whole", true, db.Options{MemTableBytes: 1 << 20}},
		{"tiny memtable, one worker", "whole", true, db.Options{MemTableBytes: 64 << 10, CacheBytes: 1 << 20, Index: index.Options{Workers: 1, ChunkWorkers: 1, EntityWords: index.EntityWordsOn}}},
		{"every collection indexed", "whole", true, db.Options{MemTableBytes: 256 << 10, Vectors: db.VectorOptions{ExactBytes: -1}}},
		{"small chunks, one worker", "small", false, db.Options{MemTableBytes: 256 << 10, Index: small}},
		{"small chunks, many workers, no cache", "small", false, db.Options{MemTableBytes: 64 << 10, DisableReplyCache: true, EmbedBatch: 2, Index: smallWide}},
	}
}

// all runs a list under every configuration and compares within the groups.
func all(seed uint64, ops []Op) error {
	first := map[string]Outcome{}
	for _, c := range configs() {
		out, err := Run(context.Background(), c, seed, ops)
		if err != nil {
			return err
		}
		want, ok := first[c.Group]
		if !ok {
			first[c.Group] = out
			continue
		}
		for i := range want.Answers {
			if out.Answers[i] != want.Answers[i] {
				return fmt.Errorf("%s: query %d answers\n%s\nanother configuration\n%s", c.Name, i+1, out.Answers[i], want.Answers[i])
			}
		}
		if d := differ(lines(out.Dump), lines(want.Dump)); d != "" {
			return fmt.Errorf("%s: final dump differs from another configuration's: %s", c.Name, d)
		}
	}
	return nil
}

func lines(s string) (out []string) {
	for l := range bytes.Lines([]byte(s)) {
		out = append(out, string(l))
	}
	return out
}

func TestMetamorphic(t *testing.T) {
	if *opsFlag != "" {
		f, err := os.Open(*opsFlag)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ops, err := Read(f)
		if err != nil {
			t.Fatal(err)
		}
		run(t, max(*seedFlag, 1), ops)
		return
	}
	n, seeds := *countFlag, make([]uint64, *seedsFlag)
	for i := range seeds {
		seeds[i] = uint64(i) + 1
	}
	if testing.Short() {
		n, seeds = n/4, seeds[:1]
	}
	if *seedFlag != 0 {
		seeds = []uint64{*seedFlag}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { run(t, seed, Generate(seed, n)) })
	}
}

func run(t *testing.T, seed uint64, ops []Op) {
	t.Helper()
	err := all(seed, ops)
	if err == nil {
		return
	}
	least := Shrink(ops, shrinkRuns, func(o []Op) bool { return all(seed, o) != nil })
	var b bytes.Buffer
	if err := Write(&b, least); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "ops.jsonl")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Error(err)
	}
	t.Fatalf("seed %d, %d operations: %v\n\n%d are enough (put them in a file for -metamorphic.ops): %v\n%s", seed, len(ops), err, len(least), all(seed, least), &b)
}

// A list survives its text form, and depends on the seed alone.
func TestOpsRoundTrip(t *testing.T) {
	ops := Generate(7, 300)
	if !reflect.DeepEqual(ops, Generate(7, 300)) || reflect.DeepEqual(ops, Generate(8, 300)) {
		t.Error("lists do not follow the seed")
	}
	var b bytes.Buffer
	if err := Write(&b, ops); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil || !reflect.DeepEqual(got, ops) {
		t.Errorf("read back %d operations, %v", len(got), err)
	}
}

// The shrinker finds the two operations that a failure needs.
func TestShrink(t *testing.T) {
	ops := Generate(3, 200)
	ops[40], ops[170] = Op{Kind: KVPut, Name: "needle"}, Op{Kind: KVDelete, Name: "needle"}
	least := Shrink(ops, 500, func(o []Op) bool {
		put := slices.IndexFunc(o, func(op Op) bool { return op.Kind == KVPut && op.Name == "needle" })
		del := slices.IndexFunc(o, func(op Op) bool { return op.Kind == KVDelete && op.Name == "needle" })
		return put >= 0 && del > put
	})
	if len(least) != 2 {
		t.Errorf("%d operations remain, want 2", len(least))
	}
}
