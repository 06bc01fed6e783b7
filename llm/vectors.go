package llm

import "math"

// CheckVectors returns a *VectorError unless vecs holds texts vectors of dim finite values each, none of them
// all zero (L1).
func CheckVectors(model string, vecs [][]float32, texts, dim int) error {
	if len(vecs) != texts {
		return &VectorError{Model: model, Index: -1, Got: len(vecs), Want: texts, Reason: ReasonCount}
	}
	for i, v := range vecs {
		if len(v) != dim {
			return &VectorError{Model: model, Index: i, Got: len(v), Want: dim, Reason: ReasonDimension}
		}
		zero := true
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return &VectorError{Model: model, Index: i, Got: dim, Want: dim, Reason: ReasonNotFinite}
			}
			zero = zero && x == 0
		}
		if zero {
			return &VectorError{Model: model, Index: i, Got: dim, Want: dim, Reason: ReasonZero}
		}
	}
	return nil
}
