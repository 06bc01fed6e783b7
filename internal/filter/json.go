package filter

import (
	"encoding/json"

	"github.com/glimdb/db/internal/record"
)

// UnmarshalJSON reads numbers as record.Metadata does: whole ones stay exact.
func (c *Condition) UnmarshalJSON(data []byte) error {
	var raw struct {
		Key      string            `json:"key"`
		In       []json.RawMessage `json:"in"`
		Min, Max json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	out := Condition{Key: raw.Key}
	for _, b := range raw.In {
		v, err := record.UnmarshalValue(b)
		if err != nil {
			return err
		}
		out.In = append(out.In, v)
	}
	for _, bound := range []struct {
		raw json.RawMessage
		to  *any
	}{{raw.Min, &out.Min}, {raw.Max, &out.Max}} {
		if len(bound.raw) == 0 || string(bound.raw) == "null" {
			continue
		}
		v, err := record.UnmarshalValue(bound.raw)
		if err != nil {
			return err
		}
		*bound.to = v
	}
	*c = out
	return nil
}
