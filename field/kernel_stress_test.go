package field

import (
	"os"
	"testing"
	"time"

	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

func TestStress(t *testing.T) {
	a, b := weirdest(), new(Element).Mult32(new(Element).Add(weirdest(), new(Element).One()), 19)
	product, square, power := new(Element).Multiply(a, b), new(Element).Square(a), new(Element).SquareN(b, 50)
	inverse, root := new(Element).Invert(a), new(Element).Pow22523(b)

	d := 500 * time.Millisecond
	switch {
	case os.Getenv("SIGCORE_TEST_LONG") == "1":
		d = 30 * time.Second
	case testing.Short():
		d = 100 * time.Millisecond
	}
	impltest.All(t, "field", func(t *testing.T) {
		testvec.Stress(t, d, map[string]func() bool{
			"Multiply": func() bool { return new(Element).Multiply(a, b).Equal(product) == 1 },
			"Square":   func() bool { return new(Element).Square(a).Equal(square) == 1 },
			"SquareN":  func() bool { return new(Element).SquareN(b, 50).Equal(power) == 1 },
			"Invert":   func() bool { return new(Element).Invert(a).Equal(inverse) == 1 },
			"Pow22523": func() bool { return new(Element).Pow22523(b).Equal(root) == 1 },
		})
	})
}

// weirdest has the largest limbs.
func weirdest() *Element {
	return &Element{l: [5]uint64{1<<52 - 1, 1<<52 - 1, 1<<52 - 1, 1<<52 - 1, 1<<52 - 1}}
}
