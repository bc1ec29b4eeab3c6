package signal

import "testing"

func TestMessageTypeOf(t *testing.T) {
	names := map[string]MessageType{"msg": TypeSignal, "pkmsg": TypePreKey, "skmsg": TypeSenderKey}
	for name, want := range names {
		if got, ok := MessageTypeOf(name); !ok || got != want || got.String() != name {
			t.Errorf("%s is %v (%d), %v", name, got, uint8(got), ok)
		}
	}
	for _, name := range []string{"", "MSG", "msg ", "frskmsg", "MessageType(2)"} {
		if got, ok := MessageTypeOf(name); ok || got != 0 {
			t.Errorf("%q is %v", name, got)
		}
	}
	if got := MessageType(5).String(); got != "MessageType(5)" {
		t.Errorf("an unknown type prints as %q", got)
	}
}

func TestDistributionString(t *testing.T) {
	for d, want := range map[Distribution]string{
		DistributionNew: "new", DistributionKnown: "known", DistributionConflict: "conflict", 9: "Distribution(9)",
	} {
		if got := d.String(); got != want {
			t.Errorf("%d prints as %q, want %q", uint8(d), got, want)
		}
	}
}
