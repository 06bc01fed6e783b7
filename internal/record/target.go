package record

// Decisions look up what people decided about an object, nil for nothing. They tell which entity or relation source
// records count for: documents name things as they do, and their records stay under these names; decisions say
// that two names are one entity, or that a name counts for nothing. An object is a name or a pair as documents have
// it; its target is the entity or relation in the graph, under the name that people see.
type Decisions func(Object) (*Manual, error)

// Name returns the name that an entity goes by, whether or not anything speaks of it.
func (d Decisions) Name(name string) (string, error) {
	m, err := d(EntityObject(name))
	if err == nil && m != nil && m.AliasOf != "" {
		name = m.AliasOf
	}
	return name, err
}

// Target returns what the records of an object count for; active is false when they count for nothing: the
// object or one of its ends was deleted, or both ends are one entity.
func (d Decisions) Target(o Object) (target Object, active bool, err error) {
	if active, err = d.Counts(o); err != nil || !active {
		return o, false, err
	}
	return d.GoesBy(o)
}

// GoesBy returns the object under the names that entities go by; ok is false for a pair of one entity.
func (d Decisions) GoesBy(o Object) (_ Object, ok bool, err error) {
	a, err := d.Name(o.A)
	if err != nil || !o.IsRelation() {
		return EntityObject(a), true, err
	}
	b, err := d.Name(o.B)
	return RelationObject(a, b), a != b, err
}

// Counts reports whether neither the object nor one of its ends was deleted.
func (d Decisions) Counts(o Object) (bool, error) {
	parts := []Object{o}
	if o.IsRelation() {
		parts = append(parts, EntityObject(o.A), EntityObject(o.B))
	}
	for _, part := range parts {
		m, err := d(part)
		if err != nil || m != nil && m.Deleted {
			return false, err
		}
	}
	return true, nil
}

// Origin tells that a document, by its sequence, speaks of an entity or relation under one of its names.
type Origin struct {
	Seq    uint64
	Object Object
}

// Compare orders origins by document, then by name.
func (o Origin) Compare(p Origin) int {
	switch {
	case o.Seq < p.Seq:
		return -1
	case o.Seq > p.Seq:
		return 1
	}
	return o.Object.Compare(p.Object)
}

// Part counts the records behind a view that was derived from those of some documents.
type Part struct {
	Records, Endpoints int
	// Cut: the documents have more, which the caps leave out. Type votes, weight and source count are then those of the
	// records that were read, where a stored view has the sums of all.
	Cut bool
}
