package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/index/format"
	"github.com/glimdb/db/internal/brief"
)

// autoFormat is the --format that looks at names and bytes, and the --encoding.
const autoFormat = "auto"

// formatFlag reads a value of --format.
func formatFlag(v string) (format.Format, error) {
	if v == autoFormat {
		return format.Auto, nil
	}
	if f := format.Format(v); slices.Contains(format.Formats(), f) {
		return f, nil
	}
	return "", usage("--format is %s: want auto, %s", brief.Quote(v), formatNames())
}

func formatNames() string {
	var names []string
	for _, f := range format.Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// decode makes documents of a file. The errors of the library get the flag to use.
func decode(ctx context.Context, f file, o format.Options) ([]index.Document, format.Report, error) {
	r, err := format.Decode(ctx, f.id, f.raw, o)
	if err != nil {
		if e, ok := errors.AsType[*format.EncodingError](err); ok && e.Likely != "" {
			err = fmt.Errorf("%w: insert it with --encoding %s", err, e.Likely)
		}
		return nil, r.Report, &inputError{f.id, err}
	}
	for i := range r.Documents {
		r.Documents[i].Time = f.time
	}
	return r.Documents, r.Report, nil
}
