package db

import (
	"context"
	"errors"
)

// tend makes postings in the background where chunks or entities have none yet: queries do without until it has ended. What ends the
// state interrupts it, and the next state goes on from there. A call runs in the workspace.
func (s *state) tend() error {
	if s.opts.ReadOnly {
		return nil
	}
	view, err := s.log.View()
	if err != nil {
		return err
	}
	t, err := s.pipe.Tended(view)
	if err = errors.Join(err, view.Close()); err != nil || t.Whole && !t.Entities.Due {
		return err
	}
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	if !s.life.closed {
		s.life.work.Go(func() { s.makePostings(s.ctx) })
	}
	return nil
}

// makePostings makes them. What stands in the way is told to the log: Settle, or the next state, tries again.
func (s *state) makePostings(ctx context.Context) {
	if err := s.pipe.Tend(ctx); err != nil && s.ctx.Err() == nil {
		s.opts.Logger.Warn("db: making postings for full-text search", "error", err)
	}
}
