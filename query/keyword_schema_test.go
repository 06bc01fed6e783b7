package query

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/glimdb/db/llm/llmtest"
)

// The schema that goes with the request names the fields of a reply that is read without loss.
func TestKeywordSchema(t *testing.T) {
	const reply = `{"high_level_keywords": ["tides"], "low_level_keywords": ["moon"]}`
	chat := llmtest.Replies(reply)
	got, err := NewModelKeyworder(chat, "").Keywords(t.Context(), "What moves the tides?")
	check(t, err)
	var fields map[string]any
	check(t, json.Unmarshal([]byte(reply), &fields))
	var schema struct {
		Required   []string
		Properties map[string]any
	}
	req := chat.Calls()[0]
	check(t, json.Unmarshal(req.Schema, &schema))
	for name := range fields {
		if !slices.Contains(schema.Required, name) || schema.Properties[name] == nil {
			t.Errorf("the schema lacks %s", name)
		}
	}
	if !req.JSON || len(schema.Required) != len(fields) || got.High[0] != "tides" || got.Low[0] != "moon" {
		t.Errorf("%+v, %+v", req, got)
	}
}
