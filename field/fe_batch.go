package field

// InvertBatch sets out[i] = 1/in[i] for every i, and to zero where in[i] is
// zero, at the price of one inversion and three multiplications an element.
// It panics if the slices differ in length or are the same: out holds
// intermediate results while in is still read, so they must not overlap.
//
// It is constant time: it depends on the length only, and not on which
// elements are zero.
func InvertBatch(out, in []Element) {
	if len(out) != len(in) {
		panic("field: mismatched batch lengths")
	}
	if len(in) == 0 {
		return
	}
	if &out[0] == &in[0] {
		panic("field: batch inversion in place")
	}

	// Montgomery's trick, with one in the place of each zero. out[i] is the
	// product of all before i.
	var zero, one, acc, t Element
	one.One()
	acc.One()
	for i := range in {
		out[i].Set(&acc)
		t.Select(&one, &in[i], in[i].Equal(&zero))
		acc.Multiply(&acc, &t)
	}
	acc.Invert(&acc)
	// acc is the inverse of the product of all up to and including i.
	for i := len(in) - 1; i >= 0; i-- {
		isZero := in[i].Equal(&zero)
		t.Select(&one, &in[i], isZero)
		out[i].Multiply(&out[i], &acc)
		out[i].Select(&zero, &out[i], isZero)
		acc.Multiply(&acc, &t)
	}
}
