package analysis

import (
	"maps"
	"slices"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmers cut words in normal form, which have no accents: a stem is a meeting place of inflections, not a word.
var stemmers = map[string]func(string) string{
	"danish": snowball(danish.Stem), "dutch": snowball(dutch.Stem), "english": snowball(english.Stem), "finnish": snowball(finnish.Stem),
	"french": snowball(french.Stem), "german": snowball(german.Stem), "hungarian": snowball(hungarian.Stem), "italian": snowball(italian.Stem),
	"norwegian": snowball(norwegian.Stem), "portuguese": snowball(portuguese.Stem), "romanian": snowball(romanian.Stem),
	"spanish": snowball(spanish.Stem), "swedish": snowball(swedish.Stem), "turkish": snowball(turkish.Stem),
}

func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		stem(env)
		return env.Current()
	}
}

// Languages lists the languages that New knows, in order.
func Languages() []string { return slices.Sorted(maps.Keys(stemmers)) }
