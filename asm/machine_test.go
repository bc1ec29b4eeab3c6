package asm

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A machine executes the text of a kernel, exactly, with one addition: a carry or
// a borrow that is overwritten before anything has read it is an error. In code
// over full words, where limits of single words say nothing, that is what shows a
// bound that does not hold: an addition that loses a carry has left its bound.
//
// It knows the instructions that the kernels use, and stops at any other.
type machine struct {
	reg     [16]uint64
	vector  [16][4]uint64
	memory  [][]byte // by the upper half of an address, less one
	names   map[string]uint64
	carry   bool
	pending *command // whose carry is set and was not read
	zero    bool
	sign    bool
	less    bool // of the comparison before, signed
}

// A command is an instruction ready for execution.
type command struct {
	instruction
	do   func(m *machine) error
	jump func(m *machine) bool
	to   int
}

var gpNames = []string{"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}

const (
	stackSize = 2048
	regDX     = 2
	regSP     = 4
	// Addresses have the number of the memory above these bits. Offsets begin in
	// the middle: a negative one is not another memory's.
	offsetBits = 32
	middle     = 1 << (offsetBits - 1)
)

// newMachine returns a machine with the parameters: []uint64 and []uint32 for
// pointers to arrays, which the kernel may change, uint64 for numbers.
func newMachine(x *executable, parameters map[string]any) *machine {
	m := &machine{names: map[string]uint64{}}
	m.reg[regSP] = m.place(make([]byte, stackSize))
	for name, p := range parameters {
		switch p := p.(type) {
		case uint64:
			m.names[name] = p
		case []uint64:
			b := make([]byte, 0, 8*len(p))
			for _, w := range p {
				b = binary.LittleEndian.AppendUint64(b, w)
			}
			m.names[name] = m.place(b)
		case []uint32:
			b := make([]byte, 0, 4*len(p))
			for _, w := range p {
				b = binary.LittleEndian.AppendUint32(b, w)
			}
			m.names[name] = m.place(b)
		default:
			panic("parameter")
		}
	}
	for name, b := range x.constants {
		m.names[name+"<>"] = m.place(b)
	}
	return m
}

func (m *machine) place(b []byte) uint64 {
	m.memory = append(m.memory, b)
	return uint64(len(m.memory))<<offsetBits + middle
}

// words returns the array that is parameter name.
func (m *machine) words(name string) []uint64 {
	b := m.memory[m.names[name]>>offsetBits-1]
	w := make([]uint64, len(b)/8)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return w
}

// A place is an operand.
type place struct {
	kind  byte // 'i' constant, 'r' register, 'v' vector register, 'm' memory
	n     uint64
	base  int
	index int
	scale uint64
	name  string // a parameter ends with "(FP)", static memory with "<>"
}

var (
	atPattern     = regexp.MustCompile(`^(-?\d*)\((\w+)\)(?:\((\w+)\*(\d)\))?$`)
	fpPattern     = regexp.MustCompile(`^(\w+)\+\d+\(FP\)$`)
	staticPattern = regexp.MustCompile(`^(\w+<>)\+(\d+)\(SB\)$`)
)

func number64(s string) (uint64, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(n), nil
	}
	return strconv.ParseUint(s, 0, 64)
}

func register(name string) (int, error) {
	for i, n := range gpNames {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no register %q", name)
}

func parsePlace(arg string) (p place, err error) {
	p.index = -1
	if n, ok := strings.CutPrefix(arg, "$"); ok {
		p.kind = 'i'
		p.n, err = number64(n)
		return p, err
	}
	if s := fpPattern.FindStringSubmatch(arg); s != nil {
		return place{kind: 'p', name: s[1]}, nil
	}
	if s := staticPattern.FindStringSubmatch(arg); s != nil {
		p.kind, p.base, p.name = 'm', -1, s[1]
		p.n, err = number64(s[2])
		return p, err
	}
	if s := atPattern.FindStringSubmatch(arg); s != nil {
		p.kind = 'm'
		if s[1] != "" {
			if p.n, err = number64(s[1]); err != nil {
				return p, err
			}
		}
		if p.base, err = register(s[2]); err == nil && s[3] != "" {
			p.scale, _ = number64(s[4])
			p.index, err = register(s[3])
		}
		return p, err
	}
	if n, ok := strings.CutPrefix(arg, "Y"); ok {
		p.kind = 'v'
		p.n, err = number64(n)
		return p, err
	}
	p.kind = 'r'
	if p.base, err = register(arg); err != nil && strings.HasSuffix(arg, "L") {
		p.base, err = register(strings.TrimSuffix(arg, "L") + "X") // AL is the lowest byte of AX
	}
	return p, err
}

func (m *machine) address(p *place) uint64 {
	a := p.n
	if p.base < 0 {
		a += m.names[p.name]
	} else {
		a += m.reg[p.base]
	}
	if p.index >= 0 {
		a += m.reg[p.index] * p.scale
	}
	return a
}

// bytes returns n bytes of memory.
func (m *machine) bytes(p *place, n uint64) ([]byte, error) {
	a := m.address(p)
	i, at := a>>offsetBits, a&(1<<offsetBits-1)-middle
	if i == 0 || i > uint64(len(m.memory)) || at > uint64(len(m.memory[i-1])) || uint64(len(m.memory[i-1]))-at < n {
		return nil, fmt.Errorf("no memory at %#x", a)
	}
	return m.memory[i-1][at : at+n], nil
}

// get returns a word of so many bits, 64, 32 or 8.
func (m *machine) get(p *place, size uint) (uint64, error) {
	var v uint64
	switch p.kind {
	case 'i':
		v = p.n
	case 'r':
		v = m.reg[p.base]
	case 'p':
		w, ok := m.names[p.name]
		if !ok {
			return 0, fmt.Errorf("no parameter %s", p.name)
		}
		v = w
	case 'm':
		b, err := m.bytes(p, uint64(size/8))
		if err != nil {
			return 0, err
		}
		for i := len(b) - 1; i >= 0; i-- {
			v = v<<8 | uint64(b[i])
		}
	default:
		return 0, fmt.Errorf("not a word")
	}
	return v & (math.MaxUint64 >> (64 - size)), nil
}

func (m *machine) put(p *place, size uint, v uint64) error {
	v &= math.MaxUint64 >> (64 - size)
	switch p.kind {
	case 'r':
		m.reg[p.base] = v
		return nil
	case 'm':
		b, err := m.bytes(p, uint64(size/8))
		for i := range b {
			b[i] = byte(v >> (8 * i))
		}
		return err
	}
	return fmt.Errorf("cannot be written")
}

func (m *machine) getVector(p *place) (v [4]uint64, err error) {
	if p.kind == 'v' {
		return m.vector[p.n], nil
	}
	b, err := m.bytes(p, 32)
	if err == nil {
		for i := range v {
			v[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
	return v, err
}

func (m *machine) putVector(p *place, v [4]uint64) error {
	if p.kind == 'v' {
		m.vector[p.n] = v
		return nil
	}
	b, err := m.bytes(p, 32)
	if err == nil {
		for i := range v {
			binary.LittleEndian.PutUint64(b[8*i:], v[i])
		}
	}
	return err
}

// flags sets the flags for a result. by is the command if the carry is one of
// the arithmetic, not the bit that a shift pushes out or the outcome of a
// comparison.
func (m *machine) flags(result uint64, size uint, carry bool, by *command) error {
	if err := m.end(); err != nil {
		return err
	}
	m.carry = carry
	if carry {
		m.pending = by
	}
	m.zero, m.sign = result == 0, result>>(size-1)&1 == 1
	return nil
}

// end returns an error if a carry is pending.
func (m *machine) end() error {
	if m.pending != nil {
		return fmt.Errorf("the carry of %q is dropped", m.pending.String())
	}
	return nil
}

func (m *machine) readCarry() uint64 {
	m.pending = nil
	if m.carry {
		return 1
	}
	return 0
}

var conditions = map[string]func(m *machine) bool{
	"EQ": func(m *machine) bool { return m.zero },
	"Z":  func(m *machine) bool { return m.zero },
	"NE": func(m *machine) bool { return !m.zero },
	"NZ": func(m *machine) bool { return !m.zero },
	"MI": func(m *machine) bool { return m.sign },
	"GE": func(m *machine) bool { return !m.less },
	"CC": func(m *machine) bool { return m.readCarry() == 0 },
	"CS": func(m *machine) bool { return m.readCarry() == 1 },
	"MP": func(*machine) bool { return true }, // of JMP
}

// An executable is a kernel that a machine can run.
type executable struct {
	commands  []*command
	constants map[string][]byte
}

// load returns the kernel of that name.
func load(t *testing.T, name string) *executable {
	t.Helper()
	for _, k := range kernelTexts(t) {
		if k.name == name {
			p, err := compile(program(k))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return &executable{p, staticData(t, k.file)}
		}
	}
	t.Fatalf("no kernel %s", name)
	return nil
}

func compile(p []instruction) ([]*command, error) {
	labels := map[string]int{}
	all := make([]*command, len(p))
	for at, i := range p {
		if i.op == "label" {
			labels[i.args[0]] = at
		}
	}
	for at, i := range p {
		c := &command{instruction: i}
		all[at] = c
		if err := c.compile(labels); err != nil {
			return nil, fmt.Errorf("%v: %w", i, err)
		}
	}
	return all, nil
}

func (c *command) compile(labels map[string]int) error {
	op := c.op
	switch {
	case op == "label" || op == "RET" || op == "VZEROUPPER":
		return nil
	case op[0] == 'J':
		to, ok := labels[c.args[0]]
		condition, known := conditions[op[1:]]
		if !ok || !known {
			return fmt.Errorf("unknown jump")
		}
		c.jump, c.to = condition, to
		return nil
	}
	args := make([]*place, len(c.args))
	for i, arg := range c.args {
		p, err := parsePlace(arg)
		if err != nil {
			return err
		}
		args[i] = &p
	}
	last := args[len(args)-1]
	if op[0] == 'V' {
		return c.compileVector(args, last)
	}
	if condition, ok := conditions[strings.TrimPrefix(op, "CMOVQ")]; ok {
		c.do = func(m *machine) error {
			v, err := m.get(args[0], 64) // read in any case
			if err == nil && condition(m) {
				err = m.put(last, 64, v)
			}
			return err
		}
		return nil
	}
	name, size := op[:len(op)-1], uint(64)
	switch op[len(op)-1] {
	case 'L':
		size = 32
	case 'X':
		name, size = op, 8
	case 'Q':
	default:
		return fmt.Errorf("unknown size")
	}
	f, ok := wordOperations[name]
	if !ok {
		return fmt.Errorf("unknown instruction")
	}
	c.do = func(m *machine) error { return f(m, c, args, size) }
	return nil
}

// run executes a kernel up to its end, where no carry may be pending.
func (m *machine) run(x *executable) error {
	p := x.commands
	for at, n := 0, 0; ; at++ {
		if at >= len(p) {
			return fmt.Errorf("no RET")
		}
		if n++; n > 10_000_000 {
			return fmt.Errorf("no end")
		}
		c := p[at]
		switch {
		case c.do != nil:
			if err := c.do(m); err != nil {
				return fmt.Errorf("instruction %d, %v: %w", at, c, err)
			}
		case c.jump != nil:
			if c.jump(m) {
				at = c.to
			}
		case c.op == "RET":
			return m.end()
		}
	}
}

var dataLine = regexp.MustCompile(`(?m)^DATA (\w+)<>\+(\d+)\(SB\)/8, \$(\w+)$`)

// staticData returns the constants of an assembly file.
func staticData(t *testing.T, file string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, s := range dataLine.FindAllStringSubmatch(string(text), -1) {
		v, err := number64(s[3])
		if err != nil || s[2] != strconv.Itoa(len(all[s[1]])) {
			t.Fatalf("%s: %s", file, s[0])
		}
		all[s[1]] = binary.LittleEndian.AppendUint64(all[s[1]], v)
	}
	return all
}
