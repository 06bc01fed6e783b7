package db

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/dump"
	"github.com/glimdb/db/internal/record"
)

// props are graph properties in a dump: each value under the name of its type, so that 1 and 1.0 stay
// apart.
type props map[string]prop

type prop struct {
	String *dump.Text   `json:"s,omitempty"`
	Int    *int64       `json:"i,omitempty"`
	Float  *float64     `json:"f,omitempty"`
	Bool   *bool        `json:"b,omitempty"`
	List   *[]dump.Text `json:"l,omitempty"`
}

// propsOf splits properties into logical and volatile ones; volatile is nil when there is none.
func propsOf(graphName string, p graph.Props) (logical props, volatile any) {
	logical = make(props, len(p))
	vol := make(props)
	for name, v := range p {
		to := logical
		if graphName == record.GraphName && record.VolatileProp(name) {
			to = vol
		}
		to[propName(name)] = propOf(v)
	}
	if len(vol) == 0 {
		return logical, nil
	}
	return logical, vol
}

// rawName begins the name of a property in a dump when the name itself is no UTF-8, or begins so.
const rawName = "base64:"

func propName(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, rawName) {
		return name
	}
	return rawName + base64.StdEncoding.EncodeToString([]byte(name))
}

func propOf(v any) prop {
	switch v := v.(type) {
	case string:
		t := dump.Text(v)
		return prop{String: &t}
	case int64:
		return prop{Int: &v}
	case float64:
		return prop{Float: &v}
	case bool:
		return prop{Bool: &v}
	case []string:
		l := dump.Texts(v)
		return prop{List: &l}
	}
	return prop{}
}

func (p prop) value() (any, error) {
	switch {
	case p.String != nil:
		return string(*p.String), nil
	case p.Int != nil:
		return *p.Int, nil
	case p.Float != nil:
		return *p.Float, nil
	case p.Bool != nil:
		return *p.Bool, nil
	case p.List != nil:
		return append([]string{}, dump.Strings(*p.List)...), nil
	}
	return nil, errors.New("no value")
}

// graphProps joins logical and volatile properties again.
func graphProps(logical, volatile props) (graph.Props, error) {
	all := maps.Clone(logical)
	if all == nil {
		all = make(props)
	}
	maps.Copy(all, volatile)
	out := make(graph.Props, len(all))
	for name, p := range all {
		v, err := p.value()
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", name, err)
		}
		if raw, ok := strings.CutPrefix(name, rawName); ok {
			b, err := base64.StdEncoding.DecodeString(raw)
			if err != nil {
				return nil, fmt.Errorf("property %q: %w", name, err)
			}
			name = string(b)
		}
		out[name] = v
	}
	return out, nil
}

func vectorBytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func vectorOf(b []byte) ([]float32, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("a vector of %d bytes", len(b))
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}
