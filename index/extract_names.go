package index

import "context"

// normalized gives the names that x finds their stored form, so that a caller's own extractor need not
// know NormalizeName. Extractors of this package that do so themselves are returned as they are; the
// formats of recorded replies keep some names as they were.
func normalized(x Extractor) Extractor {
	if _, ok := x.(*ModelExtractor); ok {
		return x
	}
	return namedExtractor{x}
}

type namedExtractor struct{ Extractor }

func (n namedExtractor) Extract(ctx context.Context, in ExtractInput) (Extraction, error) {
	x, err := n.Extractor.Extract(ctx, in)
	if err != nil {
		return Extraction{}, err
	}
	out := Extraction{Report: x.Report,
		Entities:  make([]EntityRecord, len(x.Entities)),
		Relations: make([]RelationRecord, len(x.Relations))}
	for i, e := range x.Entities {
		e.Name = NormalizeName(e.Name)
		out.Entities[i] = e
	}
	for i, r := range x.Relations {
		r.Src, r.Dst = NormalizeName(r.Src), NormalizeName(r.Dst)
		out.Relations[i] = r
	}
	return out, nil
}
