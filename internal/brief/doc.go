// Package brief puts what a caller gave into messages, whatever its length. It knows nothing of the product
// and keeps no state.
package brief
