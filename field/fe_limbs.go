package field

// Limbs returns the limbs of v, for kernels of this module that write elements.
// Whoever writes them keeps each below 2^52. Other code should use SetWords and
// Words, which do not depend on the representation.
func (v *Element) Limbs() *[5]uint64 { return &v.l }
