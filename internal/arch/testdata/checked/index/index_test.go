package index

import (
	"testing"

	"github.com/glimdb/db"
)

func TestUnchecked(t *testing.T) {
	d, err := db.Open("store")
	_, _ = d.Insert(), err
}

func TestUncheckedByHelper(t *testing.T) { t.Run("closure", func(t *testing.T) { openStore(t) }) }

func TestChecked(t *testing.T) {
	d, err := db.Open("store")
	_, _ = d.Check(), err
}

func TestCheckedByHelper(t *testing.T) { verify(openStore(t)) }

func TestCheckedByCommand(t *testing.T) { run(openStore(t), "check") }

func TestOpensNothing(t *testing.T) {}

func ExampleOpen() {
	d, err := db.Open("store")
	_, _ = d, err
}

func openStore(t *testing.T) *db.DB {
	d, err := db.Open("store")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func run(d *db.DB, args ...string) {}

func verify(d *db.DB) { _ = d.Check() }

func TestRefused(t *testing.T) {
	if _, err := db.Open("store"); err == nil {
		t.Error("opened")
	}
	d, err := db.Open("store")
	if d != nil || err == nil {
		t.Error("opened")
	}
}

func TestUncheckedField(t *testing.T) {
	var s struct{ d *db.DB }
	s.d, _ = db.Open("store")
}
