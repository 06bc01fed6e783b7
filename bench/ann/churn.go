package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/vector"
)

const (
	turnovers = 5
	// churnEf is narrow, so that a worse graph shows.
	churnEf   = 40
	churnSeed = 5
)

// churn turns a population over: half of the data set is in the database, and each turn replaces every vector
// by one that is not, every third time under the same id, else by a delete and an insert. Then it is
// compacted and compared with a new database of the same vectors.
func churn(ctx context.Context, s *session) (err error) {
	n := s.data.base.rows() / 2
	d, err := s.settled(ctx, "churned", n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	p := newPopulation(n, s.data.base.rows())
	for turn := range turnovers {
		began := time.Now()
		if err := errors.Join(s.turn(ctx, d, p), d.Settle(ctx)); err != nil {
			return err
		}
		fmt.Fprintf(s.log, "turn %d of %d done in %.0f s\n", turn+1, turnovers, time.Since(began).Seconds())
	}
	unreachable, err := problems(ctx, d)
	if err != nil {
		return err
	}
	if err := d.Compact(ctx); err != nil {
		return err
	}
	old, err := s.judge(ctx, d, "churned", p)
	if err != nil {
		return err
	}
	fresh, err := s.rebuilt(ctx, p)
	if err != nil {
		return err
	}
	s.report(fmt.Sprintf("recall@%d (ef %d) lost by %d turns of %d vectors, in points", figureK, churnEf, turnovers, n), "",
		single(100*(fresh.recall-old.recall)), noMoreThan(1))
	s.report("live vectors that no search can reach, and other problems", "", single(float64(unreachable+old.problems)), noMoreThan(0))
	s.report("memory after Compact against a new database", "×", single(old.memory/fresh.memory), noMoreThan(1.3))
	s.report("disk after Compact against a new database", "×", single(old.disk/fresh.disk), noMoreThan(1.3))
	s.report("the same with logs, which are kept to be written again", "×", single(old.files/fresh.files), bar{})
	return nil
}

// population is which base row lies under which id. Ids are never used for another vector once deleted.
type population struct {
	ids  []int    // by place
	rows []uint32 // by place: the base row
	free []uint32 // base rows that are not there
	next int      // the next new id
	r    *rand.Rand
}

func newPopulation(n, all int) *population {
	p := &population{next: n, r: rand.New(rand.NewPCG(churnSeed, uint64(n)))}
	for i := range all {
		if i < n {
			p.ids, p.rows = append(p.ids, i), append(p.rows, uint32(i))
		} else {
			p.free = append(p.free, uint32(i))
		}
	}
	return p
}

// turn replaces every vector once, in random order.
func (s *session) turn(ctx context.Context, d *db.DB, p *population) error {
	p.r.Shuffle(len(p.free), func(i, j int) { p.free[i], p.free[j] = p.free[j], p.free[i] })
	places := p.r.Perm(len(p.rows))
	for at := 0; at < len(places); at += writeBatch {
		err := d.Update(ctx, func(tx *db.Tx) error {
			v, err := tx.CreateVectors(collectionName, s.config())
			if err != nil {
				return err
			}
			for k, place := range places[at:min(at+writeBatch, len(places))] {
				i := at + k
				if i%3 != 0 {
					if err := v.Delete(rowID(p.ids[place])); err != nil {
						return err
					}
					p.ids[place] = p.next
					p.next++
				}
				p.rows[place], p.free[i] = p.free[i], p.rows[place]
				if err := v.Put(rowID(p.ids[place]), s.data.base.row(int(p.rows[place]))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// judged is what a database of a population is like.
type judged struct {
	recall   float64
	memory   float64 // bytes, as those below
	disk     float64 // of the collection's tables
	files    float64 // of the whole folder
	problems int
}

// rebuilt judges a new database of the same vectors, put in order of place.
func (s *session) rebuilt(ctx context.Context, p *population) (j judged, err error) {
	same := newPopulation(len(p.rows), len(p.rows))
	live := &session{settings: s.settings, data: s.living(p), temp: s.temp, log: s.log, measure: s.measure}
	d, err := live.settled(ctx, "fresh", len(p.rows))
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Compact(ctx); err != nil {
		return j, err
	}
	return live.judge(ctx, d, "fresh", same)
}

// living is the data set of a population: row i is what lies at place i.
func (s *session) living(p *population) *dataset {
	base := newMatrix(len(p.rows), s.data.base.dim)
	for i, row := range p.rows {
		copy(base.row(i), s.data.base.row(int(row)))
	}
	return &dataset{s.data.name, s.data.metric, base, s.data.queries}
}

// judge compares a database with the exact answers for its population, and weighs it.
func (s *session) judge(ctx context.Context, d *db.DB, dir string, p *population) (j judged, err error) {
	live := s.living(p)
	exact, err := solve(live, s.cache)
	if err != nil {
		return j, err
	}
	places := make(map[string]uint32, len(p.ids))
	for place, id := range p.ids {
		places[rowID(id)] = uint32(place)
	}
	out := make([][]uint32, live.queries.rows())
	for i := range out {
		hits, err := find(ctx, d, collectionName, live.queries.row(i), vector.SearchOptions{K: figureK, Ef: churnEf, Plan: vector.PlanIndex})
		if err != nil {
			return j, err
		}
		for _, h := range hits {
			place, there := places[h.ID]
			if !there {
				return j, fmt.Errorf("a search finds %s, which was deleted", h.ID)
			}
			out[i] = append(out[i], place)
		}
	}
	st, err := statsOf(ctx, d, collectionName)
	if err != nil {
		return j, err
	}
	if st.Live != len(p.rows) {
		return j, fmt.Errorf("%d vectors are there, want %d", st.Live, len(p.rows))
	}
	files, err := calm(ctx, func() (int64, error) { return folderBytes(filepath.Join(s.temp, dir)) })
	if err != nil {
		return j, err
	}
	j = judged{recall: live.recall(exact, out, figureK), memory: float64(st.Bytes), disk: float64(st.Disk), files: float64(files)}
	j.problems, err = problems(ctx, d)
	return j, err
}

// problems counts what a database finds wrong with itself.
func problems(ctx context.Context, d *db.DB) (n int, err error) {
	for _, err := range d.Check(ctx) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// folderBytes adds up the files of a folder.
func folderBytes(dir string) (n int64, err error) {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return 0, err
		}
		n += info.Size()
	}
	return n, err
}
