// Package newcomer was added without a row.
package newcomer
