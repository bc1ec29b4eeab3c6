package asm

import (
	"fmt"
	"math"
	"math/bits"
)

// wordOperations are by the name without the size.
var wordOperations = map[string]func(m *machine, c *command, args []*place, size uint) error{
	"MOV":     move,
	"MOVBQZX": move,
	"ADD":     func(m *machine, c *command, args []*place, size uint) error { return add(m, c, args, size, 0) },
	"ADC": func(m *machine, c *command, args []*place, size uint) error {
		return add(m, c, args, size, m.readCarry())
	},
	"SUB": func(m *machine, c *command, args []*place, size uint) error { return subtract(m, c, args, size, 0) },
	"SBB": func(m *machine, c *command, args []*place, size uint) error {
		return subtract(m, c, args, size, m.readCarry())
	},
	"INC": func(m *machine, _ *command, args []*place, size uint) error { return step(m, args, size, 1) },
	"DEC": func(m *machine, _ *command, args []*place, size uint) error {
		return step(m, args, size, math.MaxUint64)
	},
	"AND":  logic(func(a, b uint64) uint64 { return a & b }, true),
	"OR":   logic(func(a, b uint64) uint64 { return a | b }, true),
	"XOR":  logic(func(a, b uint64) uint64 { return a ^ b }, true),
	"TEST": logic(func(a, b uint64) uint64 { return a & b }, false),
	"SHR":  logic(func(n, a uint64) uint64 { return a >> n }, true),
	"SHL":  logic(func(n, a uint64) uint64 { return a << n }, true),
	"CMP": func(m *machine, _ *command, args []*place, size uint) error {
		a, err := m.get(args[0], size) // Go's order
		if err != nil {
			return err
		}
		b, err := m.get(args[1], size)
		if err != nil {
			return err
		}
		if size != 64 {
			return fmt.Errorf("unknown size")
		}
		if err := m.flags(a-b, size, a < b, nil); err != nil {
			return err
		}
		m.less = int64(a) < int64(b)
		return nil
	},
	"BT": func(m *machine, _ *command, args []*place, size uint) error {
		v, err := m.get(args[1], size)
		if err == nil {
			err = m.end()
		}
		m.carry = v>>(args[0].n%uint64(size))&1 == 1
		return err
	},
	"NEG": func(m *machine, _ *command, args []*place, size uint) error {
		v, err := m.get(args[0], size)
		if err == nil {
			err = m.flags(-v, size, v != 0, nil)
		}
		if err == nil {
			err = m.put(args[0], size, -v)
		}
		return err
	},
	"IMUL3": func(m *machine, c *command, args []*place, size uint) error {
		v, err := m.get(args[1], size)
		if err != nil {
			return err
		}
		// A product that does not fit has lost more than a carry.
		hi, lo := bits.Mul64(args[0].n, v)
		if hi != 0 {
			return fmt.Errorf("%d·%#x overflows", args[0].n, v)
		}
		if err := m.flags(lo, size, false, nil); err != nil {
			return err
		}
		return m.put(args[2], size, lo)
	},
	"MULX": func(m *machine, _ *command, args []*place, size uint) error {
		v, err := m.get(args[0], size)
		if err != nil {
			return err
		}
		hi, lo := bits.Mul64(m.reg[regDX], v)
		if err := m.put(args[1], size, lo); err != nil {
			return err
		}
		return m.put(args[2], size, hi)
	},
	"SHRX": func(m *machine, _ *command, args []*place, size uint) error {
		n, err := m.get(args[0], size)
		if err != nil {
			return err
		}
		v, err := m.get(args[1], size)
		if err != nil {
			return err
		}
		return m.put(args[2], size, v>>(n%64))
	},
	"LEA": func(m *machine, _ *command, args []*place, size uint) error {
		return m.put(args[1], size, m.address(args[0]))
	},
}

func move(m *machine, _ *command, args []*place, size uint) error {
	v, err := m.get(args[0], size)
	if err != nil {
		return err
	}
	if size == 8 {
		size = 64 // MOVBQZX
	}
	return m.put(args[1], size, v)
}

func add(m *machine, c *command, args []*place, size uint, carry uint64) error {
	b, err := m.get(args[0], size)
	if err != nil {
		return err
	}
	a, err := m.get(args[1], size)
	if err != nil {
		return err
	}
	if size != 64 {
		return fmt.Errorf("unknown size")
	}
	sum, out := bits.Add64(a, b, carry)
	if err := m.flags(sum, size, out == 1, c); err != nil {
		return err
	}
	return m.put(args[1], size, sum)
}

func subtract(m *machine, c *command, args []*place, size uint, borrow uint64) error {
	b, err := m.get(args[0], size)
	if err != nil {
		return err
	}
	a, err := m.get(args[1], size)
	if err != nil {
		return err
	}
	if size != 64 {
		return fmt.Errorf("unknown size")
	}
	by := c
	if c.args[0] == c.args[1] {
		// This spreads the carry over the word: the flag is a copy of it.
		by = nil
	}
	difference, out := bits.Sub64(a, b, borrow)
	if err := m.flags(difference, size, out == 1, by); err != nil {
		return err
	}
	return m.put(args[1], size, difference)
}

// step leaves the carry.
func step(m *machine, args []*place, size uint, by uint64) error {
	v, err := m.get(args[0], size)
	if err != nil {
		return err
	}
	v += by
	m.zero, m.sign = v == 0, v>>(size-1)&1 == 1
	return m.put(args[0], size, v)
}

func logic(f func(a, b uint64) uint64, store bool) func(m *machine, c *command, args []*place, size uint) error {
	return func(m *machine, _ *command, args []*place, size uint) error {
		a, err := m.get(args[0], size)
		if err != nil {
			return err
		}
		b, err := m.get(args[1], size)
		if err != nil {
			return err
		}
		v := f(a, b) & (math.MaxUint64 >> (64 - size))
		if err := m.flags(v, size, false, nil); err != nil || !store {
			return err
		}
		return m.put(args[1], size, v)
	}
}
