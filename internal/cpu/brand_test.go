package cpu

import "testing"

func TestBrand(t *testing.T) {
	for _, c := range []struct {
		name string
		eax  uint32
		want string
	}{
		{"AMD EPYC ", 0x00b00f21, "AMD EPYC (family 26, model 2, stepping 1)"},
		{"Intel(R) Xeon(R) Processor", 0x000a0671, "Intel(R) Xeon(R) Processor (family 6, model 167, stepping 1)"},
		{"old", 0x0000052c, "old (family 5, model 2, stepping 12)"},
	} {
		if got := brand(c.name, c.eax); got != c.want {
			t.Errorf("%#x: %q, want %q", c.eax, got, c.want)
		}
	}
}

// A tier that runs rests on features that the processor announces.
func TestNeedsOfRunningTiers(t *testing.T) {
	for _, tier := range Tiers() {
		if Needs(tier) == 0 || Needs(tier)&Needs("mulx") != Needs("mulx") {
			t.Errorf("%s needs %v", tier, Needs(tier))
		}
		if Reason(tier) == "" && Needs(tier)&^Present() != 0 {
			t.Errorf("%s runs without %v", tier, Needs(tier)&^Present())
		}
	}
	if Needs("generic") != 0 {
		t.Errorf("generic needs %v", Needs("generic"))
	}
}
