package llm

import (
	"math"
	"slices"
	"strings"
)

// Price is what a million tokens of a model cost, in any currency.
type Price struct {
	Prompt     float64 `json:"prompt"`
	Completion float64 `json:"completion"`
}

// Prices are prices by model: its ID, or the name in it, without the provider before the first slash and the server
// after the last @ ("openai/gpt-4o-mini@localhost:8080" is found under "gpt-4o-mini" as well).
type Prices map[string]Price

// Valid reports whether both prices are numbers of 0 or more.
func (p Price) Valid() bool {
	return p.Prompt >= 0 && p.Completion >= 0 && !math.IsInf(p.Prompt, 0) && !math.IsInf(p.Completion, 0)
}

func (p Prices) of(model string) (Price, bool) {
	for _, name := range [...]string{model, withoutServer(model), withoutProvider(model), withoutProvider(withoutServer(model))} {
		if price, ok := p[name]; ok {
			return price, true
		}
	}
	return Price{}, false
}

func withoutServer(model string) string {
	if i := strings.LastIndexByte(model, '@'); i > 0 {
		return model[:i]
	}
	return model
}

func withoutProvider(model string) string {
	_, name, ok := strings.Cut(model, "/")
	if !ok {
		return model
	}
	return name
}

// Cost returns what usages cost together, and the models that have no price, each once, in order. Calls that a cache
// answered cost nothing.
func (p Prices) Cost(list []ModelUsage) (cost float64, unpriced []string) {
	for _, u := range list {
		if u.PromptTokens+u.CompletionTokens == 0 {
			continue
		}
		price, ok := p.of(u.Model)
		if !ok {
			unpriced = append(unpriced, u.Model)
			continue
		}
		cost += (float64(u.PromptTokens)*price.Prompt + float64(u.CompletionTokens)*price.Completion) / 1e6
	}
	slices.Sort(unpriced)
	return cost, slices.Compact(unpriced)
}
