package vector

import (
	"encoding/json"
	"errors"
	"testing"
)

// A plan is written and read by its name, in JSON and wherever texts are.
func TestPlanText(t *testing.T) {
	for p := range Plan(plans) {
		b, err := json.Marshal(p)
		var back Plan
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back != p || string(b) != `"`+p.String()+`"` {
			t.Errorf("%v became %s, then %v, %v", p, b, back, err)
		}
	}
	for _, text := range []string{"", "Scan", "plan(9)", "scan "} {
		p := PlanWide
		if err := p.UnmarshalText([]byte(text)); !errors.Is(err, ErrParameter) || p != PlanWide {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}
