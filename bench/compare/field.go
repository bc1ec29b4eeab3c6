package main

import (
	filippo "filippo.io/edwards25519/field"
	circl "github.com/cloudflare/circl/math/fp25519"

	"github.com/sigcore/sigcore/field"
)

func init() {
	contend("field_mul", "sigcore", func() (subject, error) {
		v, a, err := elements()
		return subject{run: func(n int) error {
			for range n {
				v.Multiply(v, a)
			}
			return nil
		}}, err
	})
	contend("field_mul", "filippo", func() (subject, error) {
		v, a, err := filippoElements()
		return subject{run: func(n int) error {
			for range n {
				v.Multiply(v, a)
			}
			return nil
		}}, err
	})
	contend("field_mul", "circl", func() (subject, error) {
		v, a := circl.Elt(theirPoint), circl.Elt(ourPoint)
		return subject{run: func(n int) error {
			for range n {
				circl.Mul(&v, &v, &a)
			}
			return nil
		}}, nil
	})

	contend("field_square", "sigcore", func() (subject, error) {
		v, _, err := elements()
		return subject{run: func(n int) error {
			for range n {
				v.Square(v)
			}
			return nil
		}}, err
	})
	contend("field_square", "filippo", func() (subject, error) {
		v, _, err := filippoElements()
		return subject{run: func(n int) error {
			for range n {
				v.Square(v)
			}
			return nil
		}}, err
	})
	contend("field_square", "circl", func() (subject, error) {
		v := circl.Elt(theirPoint)
		return subject{run: func(n int) error {
			for range n {
				circl.Sqr(&v, &v)
			}
			return nil
		}}, nil
	})

	contend("field_invert", "sigcore", func() (subject, error) {
		v, _, err := elements()
		return subject{run: func(n int) error {
			for range n {
				v.Invert(v)
			}
			return nil
		}}, err
	})
	contend("field_invert", "filippo", func() (subject, error) {
		v, _, err := filippoElements()
		return subject{run: func(n int) error {
			for range n {
				v.Invert(v)
			}
			return nil
		}}, err
	})
	contend("field_invert", "circl", func() (subject, error) {
		v := circl.Elt(theirPoint)
		return subject{run: func(n int) error {
			for range n {
				circl.Inv(&v, &v)
			}
			return nil
		}}, nil
	})
}

func filippoElements() (v, a *filippo.Element, err error) {
	v, err = new(filippo.Element).SetBytes(theirPoint[:])
	if err != nil {
		return nil, nil, err
	}
	a, err = new(filippo.Element).SetBytes(ourPoint[:])
	return v, a, err
}

func elements() (v, a *field.Element, err error) {
	v, err = new(field.Element).SetBytes(theirPoint[:])
	if err != nil {
		return nil, nil, err
	}
	a, err = new(field.Element).SetBytes(ourPoint[:])
	return v, a, err
}
