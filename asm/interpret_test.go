package asm

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// An interpreter of scalar kernels, over their text, on upper limits of words, to
// prove bounds. It knows the instructions that they use, and stops at any other.

type instruction struct {
	op   string
	args []string
}

func (i instruction) String() string { return i.op + " " + strings.Join(i.args, ", ") }

// program returns the instructions of a kernel; labels have the op "label".
func program(k kernelText) []instruction {
	var p []instruction
	for line := range strings.Lines(k.body) {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "//")
		if m := label.FindStringSubmatch(line); m != nil {
			p = append(p, instruction{"label", []string{m[1]}})
			continue
		}
		op, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if op == "" {
			continue
		}
		i := instruction{op: op}
		if rest = strings.TrimSpace(rest); rest != "" {
			i.args = strings.Split(rest, ", ")
		}
		p = append(p, i)
		if op == "RET" {
			break
		}
	}
	return p
}

// state is that of the registers and of the memory. A pointer is in ptr, with
// the name of the array, beside reg.
type state struct {
	limits limits
	reg    map[string]uint64
	ptr    map[string]string
	mem    map[string]uint64 // "a+8"
}

func newState() *state {
	return &state{reg: map[string]uint64{}, ptr: map[string]string{}, mem: map[string]uint64{}}
}

func (s *state) set(array string, words ...uint64) {
	for i, w := range words {
		s.mem[array+"+"+strconv.Itoa(8*i)] = w
	}
}

func (s *state) words(t *testing.T, array string, n int) []uint64 {
	t.Helper()
	out := make([]uint64, n)
	for i := range out {
		w, ok := s.mem[array+"+"+strconv.Itoa(8*i)]
		if !ok {
			t.Fatalf("word %d of %s was not written", i, array)
		}
		out[i] = w
	}
	return out
}

var (
	memory    = regexp.MustCompile(`^(\d*)\((\w+)\)$`)
	parameter = regexp.MustCompile(`^(\w+)\+(\d+)\(FP\)$`)
	indexed   = regexp.MustCompile(`^(\d*)\((\w+)\)\((\w+)\*(\d)\)$`)
)

// address returns the key in mem of a memory operand, or "".
func (s *state) address(arg string) (string, error) {
	m := memory.FindStringSubmatch(arg)
	if m == nil {
		return "", nil
	}
	if m[1] == "" {
		m[1] = "0"
	}
	if m[2] == "SP" {
		return "stack+" + m[1], nil
	}
	array, ok := s.ptr[m[2]]
	if !ok {
		return "", fmt.Errorf("%s does not hold a pointer", m[2])
	}
	return array + "+" + m[1], nil
}

func (s *state) get(arg string) (uint64, error) {
	if n, ok := strings.CutPrefix(arg, "$"); ok {
		v, err := strconv.ParseUint(n, 0, 64)
		return v, err
	}
	key, err := s.address(arg)
	if err != nil {
		return 0, err
	}
	v, ok := s.reg[arg]
	if key != "" {
		v, ok = s.mem[key]
	}
	if !ok {
		return 0, fmt.Errorf("%s is not set", arg)
	}
	return v, nil
}

func (s *state) put(arg string, v uint64) error {
	key, err := s.address(arg)
	if err != nil {
		return err
	}
	if key != "" {
		s.mem[key] = v
		return nil
	}
	delete(s.ptr, arg)
	s.reg[arg] = v
	return nil
}

// move does a MOVQ, which may load a parameter.
func (s *state) move(from, to string) error {
	if m := parameter.FindStringSubmatch(from); m != nil {
		if v, ok := s.mem[m[1]]; ok { // a number
			return s.put(to, v)
		}
		delete(s.reg, to)
		s.ptr[to] = m[1]
		return nil
	}
	v, err := s.get(from)
	if err != nil {
		return err
	}
	return s.put(to, v)
}

// run executes the program up to RET. Loops run if jump says so.
func (s *state) run(p []instruction, jump func(label string) (bool, error)) error {
	labels := map[string]int{}
	for at := 0; at < len(p); at++ {
		var err error
		switch i := p[at]; i.op {
		case "RET":
			return nil
		case "label":
			labels[i.args[0]] = at
			_, err = jump(i.args[0])
		case "MOVQ":
			err = s.move(i.args[0], i.args[1])
		case "JNZ":
			var again bool
			if again, err = jump(i.args[0]); again {
				at = labels[i.args[0]]
			}
		default:
			err = s.limits.step(s, i)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", p[at], err)
		}
	}
	return fmt.Errorf("no RET")
}

func (s *state) lea(arg string) (base, index, scale uint64, err error) {
	m := indexed.FindStringSubmatch(arg)
	if m == nil || m[1] != "" {
		return base, index, 0, fmt.Errorf("unknown address")
	}
	if base, err = s.get(m[2]); err != nil {
		return
	}
	if index, err = s.get(m[3]); err != nil {
		return
	}
	scale, err = strconv.ParseUint(m[4], 10, 64)
	return
}

// limits runs on the largest value of each word, the smallest being zero. A sum,
// a product of one word or a shift that might leave 64 bits is an error, except
// for the low halves of sums of products, whose carry an ADCQ takes.
type limits struct {
	carry bool // the carry flag may be set
	read  bool
}

func (d *limits) flags(carry bool) error {
	if d.carry && !d.read {
		return fmt.Errorf("a carry may be dropped")
	}
	d.carry, d.read = carry, false
	return nil
}

func (d *limits) step(s *state, i instruction) error {
	in := make([]uint64, len(i.args))
	for n, arg := range i.args {
		if i.op == "LEAQ" && n == 0 {
			break
		}
		if v, err := s.get(arg); err == nil {
			in[n] = v
		} else if n == 0 || i.op != "MULXQ" && i.op != "LEAQ" && i.op != "IMUL3Q" {
			return err
		}
	}
	last := i.args[len(i.args)-1]
	switch i.op {
	case "ADDQ", "ADCQ":
		var c uint64
		if i.op == "ADCQ" {
			d.read = true
			if d.carry {
				c = 1
			}
		}
		v, c := bits.Add64(in[1], in[0], c)
		if c == 1 {
			v = 1<<64 - 1
		}
		if err := d.flags(c == 1); err != nil {
			return err
		}
		return s.put(last, v)
	case "ANDQ":
		if err := d.flags(false); err != nil {
			return err
		}
		return s.put(last, min(in[0], in[1]))
	case "ORQ":
		if err := d.flags(false); err != nil {
			return err
		}
		v, c := bits.Add64(in[0], in[1], 0) // not below the OR
		if c == 1 {
			v = 1<<64 - 1
		}
		return s.put(last, v)
	case "SHRQ":
		if err := d.flags(false); err != nil {
			return err
		}
		return s.put(last, in[1]>>in[0])
	case "SHLQ":
		if err := d.flags(false); err != nil {
			return err
		}
		if in[1]<<in[0]>>in[0] != in[1] {
			return fmt.Errorf("bits are shifted out of a word up to %#x", in[1])
		}
		return s.put(last, in[1]<<in[0])
	case "IMUL3Q":
		hi, lo := bits.Mul64(in[0], in[1])
		if hi != 0 {
			return fmt.Errorf("a product with a word up to %#x overflows", in[1])
		}
		if err := d.flags(false); err != nil {
			return err
		}
		return s.put(last, lo)
	case "MULXQ":
		rdx, err := s.get("DX")
		if err != nil {
			return err
		}
		hi, lo := bits.Mul64(rdx, in[0])
		if hi != 0 {
			lo = 1<<64 - 1
		}
		if err := s.put(i.args[1], lo); err != nil {
			return err
		}
		return s.put(i.args[2], hi)
	case "LEAQ":
		base, index, scale, err := s.lea(i.args[0])
		if err != nil {
			return err
		}
		hi, lo := bits.Mul64(index, scale)
		v, c := bits.Add64(base, lo, 0)
		if hi+c != 0 {
			return fmt.Errorf("the sum of words up to %#x and %#x overflows", base, index)
		}
		return s.put(last, v)
	case "DECQ":
		return nil // of a count, which has no limit here
	}
	return fmt.Errorf("unknown instruction")
}
