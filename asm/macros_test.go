package asm

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The arithmetic of package x86 on numbers in four full words, run by a machine
// that takes no dropped carry.

// A macro is one function of package x86.
type macro struct {
	name    string
	a, b    *big.Int // both below
	factor  uint64   // of a, in the macro, or zero
	out     *big.Int // below
	compute func(a, b *big.Int) *big.Int
}

var macros64 = func() []macro {
	product := func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
	square := func(a, _ *big.Int) *big.Int { return new(big.Int).Mul(a, a) }
	add := func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
	sub := func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
	multiple := func(k int64) func(a, b *big.Int) *big.Int {
		return func(a, b *big.Int) *big.Int { return add(product(a, big.NewInt(k)), b) }
	}
	folded := new(big.Int).Add(power(255), power(198))
	small := new(big.Int).Add(power(255), power(24))
	return []macro{
		{"mul", anyMax, anyMax, 0, folded, product},
		{"mulSteps", anyMax, anyMax, 0, folded, product},
		{"square", anyMax, anyMax, 0, folded, square},
		{"squareSteps", anyMax, anyMax, 0, folded, square},
		{"mulSmallAdd", anyMax, anyMax, 121666, small, multiple(121666)},
		{"mulLargestAdd", anyMax, anyMax, 1<<18 - 1, small, multiple(1<<18 - 1)},
		{"addReduced", reducedMax, reducedMax, 0, anyMax, add},
		{"subReduced", reducedMax, reducedMax, 0, anyMax, sub},
		{"addAny", anyMax, anyMax, 0, anyMax, add},
		{"subAny", anyMax, anyMax, 0, anyMax, sub},
		{"reduce", anyMax, anyMax, 0, prime, func(a, _ *big.Int) *big.Int { return a }},
	}
}()

// loadMacros returns the text of the functions of package x86, which a program
// writes.
func loadMacros(t *testing.T) map[string][]instruction {
	t.Helper()
	tmp := t.TempDir()
	file := filepath.Join(tmp, "macros.s")
	cmd := exec.Command("go", "run", "./macros", "-out", file, "-stubs", filepath.Join(tmp, "stubs.go"), "-pkg", "macros")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]instruction{}
	for _, body := range strings.Split(string(text), "TEXT ·")[1:] {
		name, _, _ := strings.Cut(body, "(")
		_, body, _ = strings.Cut(body, "\n")
		all[name] = program(kernelText{name: name, body: body})
	}
	return all
}

// run returns an error if the macro drops a carry, or leaves its bound, or is
// wrong.
func (c *macro) run(x *executable, a, b []uint64) error {
	m := newMachine(x, map[string]any{"a": a, "b": b, "out": make([]uint64, 4)})
	if err := m.run(x); err != nil {
		return fmt.Errorf("%s(%x, %x): %w", c.name, a, b, err)
	}
	got := number(m.words("out"), 64)
	if got.Cmp(c.out) >= 0 {
		return fmt.Errorf("%s(%x, %x) = %x is out of bounds", c.name, a, b, got)
	}
	want := c.compute(number(a, 64), number(b, 64))
	if want.Sub(want, got).Mod(want, prime).Sign() != 0 {
		return fmt.Errorf("%s(%x, %x) = %x is wrong", c.name, a, b, got)
	}
	return nil
}

// edgeError runs the macro on its edges, every one with every other.
func (c *macro) edgeError(x *executable) error {
	edges := edges64(c.a)
	if c.factor != 0 {
		// Words whose products have lower halves that are nearly full.
		for i := range 16 {
			w := pattern(i, 4, 64)
			for j := range w {
				if w[j] == 0 {
					w[j], _ = bits.Div64(uint64(17+j), 0, c.factor)
				}
			}
			edges = append(edges, w)
		}
	}
	for _, a := range edges {
		for _, b := range edges64(c.b) {
			if err := c.run(x, a, b); err != nil {
				return err
			}
		}
	}
	return nil
}

func executableOf(t *testing.T, p []instruction) *executable {
	t.Helper()
	commands, err := compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return &executable{commands: commands}
}

func TestMacroCarries(t *testing.T) {
	texts := loadMacros(t)
	for _, c := range macros64 {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := executableOf(t, texts[c.name])
			if err := c.edgeError(x); err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(8, 9))
			for range rounds() {
				if err := c.run(x, random64(r, c.a), random64(r, c.b)); err != nil {
					t.Fatal(err)
				}
			}

			// Each carry by itself: an instruction that does not take it is
			// noticed.
			found, missed := 0, 0
			for at, i := range texts[c.name] {
				without, ok := map[string]string{"ADCQ": "ADDQ", "SBBQ": "SUBQ"}[i.op]
				if !ok || i.args[0] == i.args[1] && i.op == "SBBQ" {
					continue
				}
				broken := slices.Clone(texts[c.name])
				broken[at].op = without
				x := executableOf(t, broken)
				err := c.edgeError(x)
				for r, n := rand.New(rand.NewPCG(8, 9)), 0; err == nil && n < 3000; n++ {
					err = c.run(x, random64(r, c.a), random64(r, c.b))
				}
				if err != nil {
					found++
				} else {
					missed++
					t.Logf("not noticed: instruction %d, %v, without its carry", at, i)
				}
			}
			if found == 0 || missed > 0 {
				t.Errorf("%d lost carries are noticed, %d are not", found, missed)
			}
		})
	}

	// Both bounds errors that have been made elsewhere are found.
	add := macros64[slices.IndexFunc(macros64, func(c macro) bool { return c.name == "addReduced" })]
	if err := add.edgeError(executableOf(t, texts["oneWordFold"])); err == nil || !strings.Contains(err.Error(), "is dropped") {
		t.Errorf("a fold into one word: %v", err)
	}
	add.a, add.b = anyMax, anyMax
	if add.edgeError(executableOf(t, texts["addReduced"])) == nil {
		t.Error("sums of any numbers by the addition of reduced ones pass")
	}
	r := rand.New(rand.NewPCG(8, 9))
	for range 1000 { // the error that random tests do not see
		w := []uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64() >> 1}
		if err := add.run(executableOf(t, texts["oneWordFold"]), w, w); err != nil {
			t.Fatal("the planted error is too easy: ", err)
		}
	}
}
