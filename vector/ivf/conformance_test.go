package ivf_test

import (
	"testing"

	"github.com/glimdb/db/vector/ivf"
	"github.com/glimdb/db/vector/vectortest"
)

func TestConformance(t *testing.T) {
	vectortest.Run(t, vectortest.Suite{New: ivf.Factory, Saving: ivf.SmallParts})
}
