package asm

import (
	"fmt"
	"maps"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// An interpreter of kernels over lanes, on the smallest and the largest value of
// each vector, to prove bounds. A sum that might leave 64 bits, a difference that
// might be negative, bits that might be shifted out, and a factor of a product that
// might not fit into the 52 bits that are read are errors. It knows the
// instructions that these kernels use, and stops at any other.

// An interval holds what each lane of a vector may be.
type interval struct{ lo, hi uint64 }

func (a interval) join(b interval) interval { return interval{min(a.lo, b.lo), max(a.hi, b.hi)} }

var anyWord = interval{0, 1<<64 - 1}

// vectorState is that of the vector registers and of the memory behind pointers,
// by the name of the parameter, or of the frame, and the distance.
type vectorState struct {
	at        map[string]interval
	pointers  map[string]string
	constants map[string]uint64
}

var (
	wordLine        = regexp.MustCompile(`(?m)^DATA (\w+<>\+\d+\(SB\))/8, \$(0x[0-9a-f]+)$`)
	vectorName      = regexp.MustCompile(`^[XYZ](\d+)$`)
	generalRegister = regexp.MustCompile(`^(?:[A-D]X|[SD]I|BP|R\d+)$`)
	vectorPlace     = regexp.MustCompile(`^(-?\d*)\((\w+)\)$`)
)

func newVectorState(t *testing.T, file string) *vectorState {
	t.Helper()
	s := &vectorState{map[string]interval{}, map[string]string{}, map[string]uint64{}}
	for _, m := range wordLine.FindAllStringSubmatch(constants(t, file), -1) {
		w, err := strconv.ParseUint(m[2], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		s.constants[m[1]] = w
	}
	return s
}

// place returns the key of an operand in at.
func (s *vectorState) place(arg string) (string, error) {
	if m := vectorName.FindStringSubmatch(arg); m != nil {
		return "vector " + m[1], nil
	}
	m := vectorPlace.FindStringSubmatch(arg)
	if m == nil || s.pointers[m[2]] == "" {
		return "", fmt.Errorf("%s is no known place", arg)
	}
	if m[1] == "" {
		m[1] = "0"
	}
	return s.pointers[m[2]] + "+" + m[1], nil
}

// ofWords says which parameters are of any words.
func ofWords(key string) bool {
	array, _, _ := strings.Cut(key, "+")
	return array == "table" || array == "digits" || array == "k"
}

func (s *vectorState) get(arg string) (interval, error) {
	if w, ok := s.constants[arg]; ok {
		return interval{w, w}, nil
	}
	if strings.Contains(arg, "*1)") { // words that a loop indexes, of scalars
		return anyWord, nil
	}
	key, err := s.place(arg)
	if err != nil {
		return interval{}, err
	}
	v, ok := s.at[key]
	if ofWords(key) {
		return anyWord, nil
	}
	if !ok {
		return v, fmt.Errorf("%s is not set", arg)
	}
	return v, nil
}

func (s *vectorState) put(arg string, v interval) error {
	key, err := s.place(arg)
	if err != nil {
		return err
	}
	s.at[key] = v
	return nil
}

// scalar follows pointers through general registers; what else these hold does not
// matter. It reports whether it knows the instruction.
func (s *vectorState) scalar(i instruction) bool {
	last := ""
	if len(i.args) > 0 {
		last = i.args[len(i.args)-1]
	}
	switch i.op {
	case "MOVQ":
		delete(s.pointers, last)
		if m := parameter.FindStringSubmatch(i.args[0]); m != nil {
			s.pointers[last] = m[1]
		}
	case "LEAQ":
		// Into the frame; a pointer that is moved through a table in it has places
		// of its own, each for all entries.
		s.pointers[last] = "frame"
		if !strings.Contains(i.args[0], "(SP)") {
			s.pointers[last] = "moved"
		}
	case "ADDQ", "ANDQ":
		if p := s.pointers[last]; p != "frame" && p != "moved" && !ofWords(p) {
			delete(s.pointers, last)
		}
	case "SHRQ", "SHLQ", "SUBQ", "XORL", "MOVL", "CMOVQEQ":
		delete(s.pointers, last)
	case "CMPQ", "VPCMPEQQ":
	case "VZEROUPPER", "VPTESTMQ", "VMOVQ", "KMOVW":
	default:
		return false
	}
	return true
}

func (s *vectorState) step(i instruction) error {
	if s.scalar(i) {
		return nil
	}
	last := i.args[len(i.args)-1]
	if i.op == "VPXORQ" && i.args[0] == i.args[1] {
		return s.put(last, interval{})
	}
	if n := len(i.args) - 2; i.op != "VPBLENDMQ" && strings.HasPrefix(i.args[n], "K") {
		// What the mask leaves out stays.
		was, err := s.get(last)
		if err != nil {
			return err
		}
		if err := s.step(instruction{i.op, append(i.args[:n:n], last)}); err != nil {
			return err
		}
		now, err := s.get(last)
		if err != nil {
			return err
		}
		return s.put(last, was.join(now))
	}
	var in []interval
	for n, arg := range i.args[:len(i.args)-1] {
		if generalRegister.MatchString(arg) {
			in = append(in, anyWord)
			continue
		}
		if strings.HasPrefix(arg, "$") || strings.HasPrefix(arg, "K") || n == 0 && strings.HasPrefix(arg, "X") {
			in = append(in, interval{})
			continue
		}
		v, err := s.get(arg)
		if err != nil {
			return err
		}
		in = append(in, v)
	}
	switch op := strings.TrimSuffix(i.op, ".BCST"); op {
	case "VMOVDQU64", "VPBROADCASTQ":
		if name, _, ok := strings.Cut(i.args[0], "<>+"); ok && op == "VMOVDQU64" {
			for place, w := range s.constants { // words, a lane each
				if strings.HasPrefix(place, name+"<>") {
					in[0] = in[0].join(interval{w, w})
				}
			}
		}
		return s.put(last, in[0])
	case "VPERMQ": // lanes change places
		return s.put(last, in[1])
	case "VPUNPCKLQDQ", "VPUNPCKHQDQ":
		return s.put(last, in[0].join(in[1]))
	case "VSHUFI64X2":
		return s.put(last, in[1].join(in[2]))
	case "VPXORQ":
		return s.put(last, anyWord)
	case "VPADDQ":
		hi, c := bits.Add64(in[0].hi, in[1].hi, 0)
		if c != 0 {
			return fmt.Errorf("the sum of words up to %#x and %#x overflows", in[0].hi, in[1].hi)
		}
		return s.put(last, interval{in[0].lo + in[1].lo, hi})
	case "VPSUBQ":
		if in[0].hi > in[1].lo {
			return fmt.Errorf("words up to %#x are subtracted from words down to %#x", in[0].hi, in[1].lo)
		}
		return s.put(last, interval{in[1].lo - in[0].hi, in[1].hi - in[0].lo})
	case "VPORQ", "VPSUBD", "VPABSD": // of limbs before their mask, and of digits
		return s.put(last, anyWord)
	case "VPANDQ":
		return s.put(last, interval{0, min(in[0].hi, in[1].hi)})
	case "VPSRLQ", "VPSLLQ":
		if !strings.HasPrefix(i.args[0], "$") { // by a number that is not known
			if op == "VPSLLQ" {
				return fmt.Errorf("unknown shift")
			}
			return s.put(last, interval{0, in[1].hi})
		}
		n, err := strconv.ParseUint(i.args[0][1:], 0, 6)
		if err != nil {
			return err
		}
		if op == "VPSRLQ" {
			return s.put(last, interval{in[1].lo >> n, in[1].hi >> n})
		}
		if n == 13 || n == 26 || n == 39 { // words that are taken apart into limbs
			return s.put(last, anyWord)
		}
		if in[1].hi<<n>>n != in[1].hi {
			return fmt.Errorf("bits are shifted out of a word up to %#x", in[1].hi)
		}
		return s.put(last, interval{in[1].lo << n, in[1].hi << n})
	case "VPBLENDMQ":
		return s.put(last, in[0].join(in[1]))
	case "VPMADD52LUQ", "VPMADD52HUQ":
		sum, err := s.get(last)
		if err != nil {
			return err
		}
		if max(in[0].hi, in[1].hi) >= 1<<52 {
			return fmt.Errorf("factors up to %#x and %#x do not fit into 52 bits", in[0].hi, in[1].hi)
		}
		hi, lo := bits.Mul64(in[0].hi, in[1].hi)
		upper := hi<<12 | lo>>52
		if op == "VPMADD52HUQ" {
			lo = upper
		} else if upper != 0 {
			lo = 1<<52 - 1
		}
		v, c := bits.Add64(sum.hi, lo, 0)
		if c != 0 {
			return fmt.Errorf("a sum of products overflows")
		}
		return s.put(last, interval{sum.lo, v})
	}
	return fmt.Errorf("unknown instruction")
}

// run executes the program up to RET. A loop runs until one more turn makes no
// interval wider: what holds at its begin then holds in every turn.
func (s *vectorState) run(p []instruction) error {
	type loop struct {
		at    int
		begin map[string]interval
		turns int
	}
	loops := map[string]*loop{}
	for at := 0; at < len(p); at++ {
		var err error
		switch i := p[at]; i.op {
		case "RET":
			return nil
		case "label":
			l := loops[i.args[0]]
			if l == nil {
				l = &loop{at: at}
				loops[i.args[0]] = l
			}
			l.begin = maps.Clone(s.at)
		case "JCC", "JNE":
			l := loops[i.args[0]]
			if l == nil {
				err = fmt.Errorf("a jump forward")
				break
			}
			wider := false
			for key, was := range l.begin {
				if now := was.join(s.at[key]); now != was {
					wider, l.begin[key] = true, now
				}
			}
			if wider {
				if l.turns++; l.turns > 20 {
					err = fmt.Errorf("the intervals grow in each turn")
				}
				for key, v := range l.begin {
					s.at[key] = v
				}
				at = l.at - 1
			}
		default:
			err = s.step(i)
		}
		if err != nil {
			return fmt.Errorf("instruction %d, %v: %w", at, p[at], err)
		}
	}
	return fmt.Errorf("no RET")
}
