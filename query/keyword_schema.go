package query

import "encoding/json"

// keywordSchema holds models that can be held to one to the object that parseKeywords reads.
func keywordSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` +
		`"high_level_keywords":{"type":"array","items":{"type":"string"}},` +
		`"low_level_keywords":{"type":"array","items":{"type":"string"}}},` +
		`"required":["high_level_keywords","low_level_keywords"],"additionalProperties":false}`)
}
