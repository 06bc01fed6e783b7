// Package arch reads the module's source and finds what breaks the rules that linters do not see: who may
// import whom, one package comment each, file sizes, names, exported variables, process exits, listed
// dependencies, tests that leave a store unchecked or are left out without a reason, paths of one machine.
//
// It does not compile anything, so that it also reads code that does not build yet, and it does not judge
// style. It is run by its own test over the whole module: all findings come at once, each with the reason
// of its rule. A rule is changed in table.go, rules.go or tests.go, together with its fixture under testdata.
//
// It owns no on-disk keys. Its functions are pure but for reading files.
//
// Invariants:
//   - A1: a package that the import table does not name is a finding, and so is a row without a package.
//   - A2: every rule has a fixture that it must catch.
package arch
