// Package optional has numbers that may be absent.
package optional

// A Uint32 is a number that may be absent. It is a part of stored records.
type Uint32 struct {
	Value   uint32
	IsEmpty bool
}

// NewOptionalUint32 returns a number that is there.
func NewOptionalUint32(value uint32) *Uint32 { return &Uint32{Value: value} }

// NewEmptyUint32 returns an absent number.
func NewEmptyUint32() *Uint32 { return &Uint32{IsEmpty: true} }
