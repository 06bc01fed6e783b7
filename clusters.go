package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// BuildClusters groups the chunks into topic clusters, with a centroid, a summary and keywords each, by which queries with
// query.Routing search a few topics instead of everything. It may be called at any time and again: the new generation takes
// the place of the old one in one commit, while queries and documents go on. From then on every commit keeps the clusters
// up, and what is to be mended is, in the background (see TendClusters). Nothing else depends on them: a dump leaves them
// out, and dropping them loses only work. docs/routing.md tells when they pay.
//
// Errors: *cluster.OptionError; ErrMismatch where summaries are to be embedded by another model than the chunks are of;
// what the models failed with. After an error the clusters are as before.
func (d *DB) BuildClusters(ctx context.Context, o cluster.Options) (cluster.Report, error) {
	if err := o.Validate(); err != nil {
		return cluster.Report{}, err
	}
	return writing(ctx, d, func(ctx context.Context, s *state) (cluster.Report, error) {
		if err := s.mayCluster(); err != nil {
			return cluster.Report{}, err
		}
		return s.clusters.Build(ctx, o)
	})
}

// Clusters describes the topic clusters, or fails with ErrNotFound when there are none.
func (d *DB) Clusters(ctx context.Context) (cluster.Info, error) {
	return reading(ctx, d, "Clusters", func(_ context.Context, s *state, _ kv.Reader) (cluster.Info, error) {
		n := s.clusters.Current()
		if n == nil {
			return cluster.Info{}, cluster.ErrNone
		}
		return n.Info(), nil
	})
}

// ClusterMembers lists the ids of the chunks in a cluster, in order; none for one that does not exist. It fails with
// ErrNotFound when there are no clusters.
func (d *DB) ClusterMembers(ctx context.Context, id uint32) ([]string, error) {
	return reading(ctx, d, "ClusterMembers", func(_ context.Context, s *state, r kv.Reader) ([]string, error) {
		n := s.clusters.Current()
		if n == nil {
			return nil, cluster.ErrNone
		}
		return n.Members(r, id), nil
	})
}

// TendClusters does now what is due, and would be done in the background: it merges clusters that have become small, splits
// large and wide ones, describes anew those that have changed, and builds all anew once the chunks have doubled, or routed
// questions find less than they did (cluster.Monitored). A summary
// model is asked again where the clusters were built with one.
func (d *DB) TendClusters(ctx context.Context) (cluster.TendReport, error) {
	return d.tend(ctx, writes)
}

func (d *DB) tend(ctx context.Context, r role) (rep cluster.TendReport, err error) {
	ctx, s, leave, err := d.enter(ctx, r)
	if err != nil {
		return rep, err
	}
	defer leave()
	if err = s.mayCluster(); err == nil {
		rep, err = s.clusters.Tend(ctx)
	}
	return rep, because(ctx, err)
}

// TuneClusters measures how many clusters questions have to search, by the questions given or by chunks in their place, and
// sets the limits by which queries are routed (cluster.Limits). It fails with ErrNotFound when there are no clusters.
func (d *DB) TuneClusters(ctx context.Context, o cluster.TuneOptions) (cluster.Tuning, error) {
	return writing(ctx, d, func(ctx context.Context, s *state) (cluster.Tuning, error) {
		if err := s.mayCluster(); err != nil {
			return cluster.Tuning{}, err
		}
		return s.clusters.Tune(ctx, o)
	})
}

// DropClusters removes the clusters, or fails with ErrNotFound when there are none. No document is touched.
func (d *DB) DropClusters(ctx context.Context) error {
	_, err := writing(ctx, d, func(ctx context.Context, s *state) (struct{}, error) {
		if s.opts.ReadOnly {
			return struct{}{}, fmt.Errorf("db: clusters: %w", ErrReadOnly)
		}
		return struct{}{}, s.clusters.Drop(ctx)
	})
	return err
}

// mayCluster refuses work on clusters that could not be stored, or whose summaries another model would embed than the
// chunks.
func (s *state) mayCluster() error {
	if s.opts.ReadOnly {
		return fmt.Errorf("db: clusters: %w", ErrReadOnly)
	}
	return s.mayEmbed()
}

// openClusters reads the clusters of the workspace.
func (s *state) openClusters() (err error) {
	snap, err := s.log.View()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	c := cluster.Config{Updater: s, Vectors: s.vectors, Workspace: s.name,
		Embedder: s.models.present, RecallSample: s.opts.Vectors.RecallSample, Now: s.opts.Now, Logger: s.opts.Logger}
	if _, offline := s.models.summarizer.(*index.Extractive); !offline {
		c.Model = s.models.summarizer
	}
	s.clusters, err = cluster.Open(snap, c)
	return err
}

// tendClusters tends the clusters in the background whenever a commit has left something to do, until the state ends. A
// call runs in the workspace. It never makes a Load fail, as a write would: where a Load may begin there are no clusters.
func (s *state) tendClusters() {
	if s.opts.ReadOnly {
		return
	}
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	if s.life.closed {
		return
	}
	d := &DB{core: s.core, name: s.name}
	s.life.work.Go(func() {
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-s.clusters.Wake():
			}
			if _, err := d.tend(s.ctx, reads); err != nil && s.ctx.Err() == nil {
				s.opts.Logger.Warn("db: upkeep of the clusters failed, and is tried again after a later commit", "error", err)
			}
		}
	})
}

// watchClusters repeats routed searches in the background where Options ask for it, until the state ends.
func (s *state) watchClusters() {
	if s.opts.Vectors.RecallSample == 0 {
		return
	}
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	if !s.life.closed {
		s.life.work.Go(func() { s.clusters.Watch(s.ctx) })
	}
}

// present is the embedder as it is now.
func (m *models) present() llm.Embedder {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.embedder
}
