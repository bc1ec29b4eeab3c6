package asm

import "fmt"

func eachByte(f func(a, b byte) byte) func(a, b [4]uint64) [4]uint64 {
	return func(a, b [4]uint64) (c [4]uint64) {
		for i := range 32 {
			c[i/8] |= uint64(f(byte(a[i/8]>>(i%8*8)), byte(b[i/8]>>(i%8*8)))) << (i % 8 * 8)
		}
		return c
	}
}

func eachWord(f func(a, b uint64) uint64) func(a, b [4]uint64) [4]uint64 {
	return func(a, b [4]uint64) (c [4]uint64) {
		for i := range c {
			c[i] = f(a[i], b[i])
		}
		return c
	}
}

func mask(is bool) byte {
	if is {
		return 0xff
	}
	return 0
}

// Vector operations on two operands. The first is that which Go's assembler
// writes second.
var vectorOperations = map[string]func(a, b [4]uint64) [4]uint64{
	"VPAND":    eachWord(func(a, b uint64) uint64 { return a & b }),
	"VPOR":     eachWord(func(a, b uint64) uint64 { return a | b }),
	"VPXOR":    eachWord(func(a, b uint64) uint64 { return a ^ b }),
	"VPSUBQ":   eachWord(func(a, b uint64) uint64 { return a - b }),
	"VPSUBB":   eachByte(func(a, b byte) byte { return a - b }),
	"VPCMPEQB": eachByte(func(a, b byte) byte { return mask(a == b) }),
	"VPCMPGTB": eachByte(func(a, b byte) byte { return mask(int8(a) > int8(b)) }),
}

var absolute = eachByte(func(a, _ byte) byte {
	if a >= 1<<7 {
		return -a
	}
	return a
})

func (c *command) compileVector(args []*place, last *place) error {
	if f, ok := vectorOperations[c.op]; ok && len(args) == 3 {
		c.do = func(m *machine) error {
			b, err := m.getVector(args[0])
			if err != nil {
				return err
			}
			a, err := m.getVector(args[1])
			if err != nil {
				return err
			}
			return m.putVector(last, f(a, b))
		}
		return nil
	}
	switch c.op {
	case "VMOVDQU", "VMOVDQA":
		c.do = func(m *machine) error {
			v, err := m.getVector(args[0])
			if err != nil {
				return err
			}
			return m.putVector(last, v)
		}
	case "VPABSB":
		c.do = func(m *machine) error {
			v, err := m.getVector(args[0])
			if err != nil {
				return err
			}
			return m.putVector(last, absolute(v, v))
		}
	case "VPBROADCASTB":
		c.do = func(m *machine) error {
			v, err := m.get(args[0], 8)
			v *= 0x0101010101010101
			if err != nil {
				return err
			}
			return m.putVector(last, [4]uint64{v, v, v, v})
		}
	case "VPMOVZXBW":
		c.do = func(m *machine) error {
			b, err := m.bytes(args[0], 16)
			if err != nil {
				return err
			}
			var v [4]uint64
			for i, x := range b {
				v[i/4] |= uint64(x) << (i % 4 * 16)
			}
			return m.putVector(last, v)
		}
	case "VPSLLW":
		if args[0].kind != 'i' || args[0].n > 15 {
			return fmt.Errorf("unknown shift")
		}
		c.do = func(m *machine) error {
			v, err := m.getVector(args[1])
			if err != nil {
				return err
			}
			keep := (uint64(0xffff) << args[0].n & 0xffff) * 0x0001000100010001
			for i := range v {
				v[i] = v[i] << args[0].n & keep
			}
			return m.putVector(last, v)
		}
	default:
		return fmt.Errorf("unknown instruction")
	}
	return nil
}
