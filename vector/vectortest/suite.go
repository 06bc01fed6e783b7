package vectortest

import (
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
)

// Suite tells what is tested.
type Suite struct {
	// New makes an index; nil: collections have none, and every search compares all vectors.
	New vector.NewIndex
	// Saving makes an index for the tests of what it saves: like New, but one that saves in pieces as small as it
	// can, so that there are many; nil: New.
	Saving vector.NewIndex
	// Forgets says that an index writes nothing, and is made again whenever a collection is opened.
	Forgets bool
	// Recall is the least mean share of the ten true neighbours that searches at the default width are to find
	// among hundreds of vectors, filtered or not; 0: 0.98, or 1 without an index.
	Recall float64
}

// Run runs every test of the suite as a subtest of t; those of the cases of bad input and of deletes have their
// numbers in their names.
func Run(t *testing.T, u Suite) {
	if u.Recall == 0 {
		u.Recall = 0.98
		if u.New == nil {
			u.Recall = 1
		}
	}
	for _, test := range []struct {
		name    string
		run     func(*testing.T)
		indexed bool // of what an index does, or saves
		saved   bool
	}{
		{"RandomHistories", u.randomHistories, false, false},
		{"IdenticalVectors", u.identicalVectors, false, false},
		{"HC16_SmallAndOddSearches", u.smallAndOddSearches, false, false},
		{"HC17_DeleteTheOnlyVector", u.deleteTheOnlyVector, false, false},
		{"HC17_DeleteTheEntryPoint", u.deleteTheEntryPoint, false, false},
		{"FilteredRecall", u.filteredRecall, false, false},
		{"IDSetHoldsIDs", u.idSetHoldsIDs, false, false},
		{"Recall", u.recall, true, false},
		{"Churn", u.churn, true, false},
		{"Compact", u.compact, true, false},
		{"Threshold", u.threshold, true, false},
		{"Deterministic", u.deterministic, true, false},
		{"Concurrency", u.concurrency, true, false},
		{"RowsLeaveMemoryUnderSearches", u.rowsLeaveMemory, true, false},
		{"PowerLoss", u.powerLoss, true, false},
		{"PowerLossWithRowsInTheStore", u.powerLossWithRowsInTheStore, true, false},
		{"UnsyncedWritesAreLost", u.unsyncedWritesAreLost, true, false},
		{"ReopenLoadsTheIndex", u.reopenLoadsTheIndex, true, true},
		{"ReopenAfterUnseenDeletes", u.reopenAfterUnseenDeletes, true, true},
		{"Damage", u.damage, true, true},
	} {
		if (u.New != nil || !test.indexed) && !(u.Forgets && test.saved) {
			t.Run(test.name, test.run)
		}
	}
}

// options are those of a set whose collections all have the index.
func (u Suite) options() vector.SetOptions {
	if u.New == nil {
		return vector.SetOptions{ExactBytes: vectorkit.ExactAlways}
	}
	return vector.SetOptions{NewIndex: u.New, ExactBytes: vectorkit.IndexAlways}
}

// saving are options with the index that saves in small pieces.
func (u Suite) saving() vector.SetOptions {
	o := u.options()
	if u.Saving != nil {
		o.NewIndex = u.Saving
	}
	return o
}

func (u Suite) open(t testing.TB) *vectorkit.Store { return vectorkit.Open(t, u.options()) }
