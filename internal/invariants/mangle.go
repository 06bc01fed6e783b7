package invariants

// Mangle overwrites all of b, spare capacity included, when the checks are on. Call it on a buffer whose
// lifetime, as documented, is over.
func Mangle(b []byte) {
	if !Enabled {
		return
	}
	b = b[:cap(b)]
	for i := range b {
		b[i] = 0xDB
	}
}
