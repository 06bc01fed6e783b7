package dump

import (
	"encoding/json"
	"unicode/utf8"
)

// Text is a string of any bytes. Valid UTF-8 is a JSON string; anything else, which encoding/json would
// damage, is {"base64":"..."}.
type Text string

type rawText struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return marshal(string(t))
	}
	return json.Marshal(rawText{[]byte(t)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var r rawText
		if err := json.Unmarshal(b, &r); err != nil {
			return err
		}
		*t = Text(r.Base64)
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = Text(s)
	return nil
}

// Texts turns strings into Texts.
func Texts(ss []string) []Text {
	out := make([]Text, len(ss))
	for i, s := range ss {
		out[i] = Text(s)
	}
	return out
}

// Strings turns Texts into strings; an empty list is nil.
func Strings(ts []Text) []string {
	if len(ts) == 0 {
		return nil
	}
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = string(t)
	}
	return out
}
