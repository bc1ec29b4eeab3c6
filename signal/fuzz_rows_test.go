package signal

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzKeyRows: what is read of a row of the account's own is written as it was
// read, and names are read in one way only.
func FuzzKeyRows(f *testing.F) {
	state := keyState{
		unsent: idSet{{1, 812}, {900, 900}}, retry: 7, nextSigned: 3, signedUploaded: true,
		retained: []retainedKey{{1, 0}, {2, 1_700_000_000}},
	}
	f.Add(state.append(nil))
	f.Add(state.unsent.append(nil))
	d := SenderKeyDevices{KeyID: 9, Devices: []Address{{Name: "15550000001:5@c.us"}, {Name: "15550000001@c.us", Device: 3}}}
	f.Add(d.append(nil))
	f.Add(append(make([]byte, 32), 1))
	f.Add([]byte("24:120363000000000001@g.us:15550000001:5@c.us.0"))
	f.Add([]byte("15550000001:99@hosted.0"))
	f.Fuzz(func(t *testing.T, rec []byte) {
		if s, ok := parseKeyState(rec); ok {
			if again, ok := parseKeyState(s.append(nil)); !ok || !slices.Equal(again.unsent, s.unsent) || !slices.Equal(again.retained, s.retained) ||
				again.retry != s.retry || again.nextSigned != s.nextSigned || again.signedUploaded != s.signedUploaded {
				t.Errorf("%+v read back as %+v", s, again)
			}
		}
		if s, ok := parseIDSet(rec); ok {
			if again, ok := parseIDSet(s.append(nil)); !ok || !slices.Equal(again, s) {
				t.Errorf("%v read back as %v", s, again)
			}
			if s.has(0) || s.has(MaxPreKeyID+1) {
				t.Errorf("%v has ids that there are not", s)
			}
		}
		if d, err := parseDeviceRow(rec); err == nil {
			if again, err := parseDeviceRow(d.append(nil)); err != nil || again.KeyID != d.KeyID || !slices.Equal(again.Devices, d.Devices) {
				t.Errorf("%+v read back as %+v, %v", d, again, err)
			}
		}
		if key, at, err := parseBaseKeyRow(rec); err == nil && (!bytes.Equal(rec[:32], key[:]) || at < 0) {
			t.Errorf("base key of %d", at)
		}
		if a, ok := parseAddress(string(rec)); ok && a.String() != string(rec) {
			t.Errorf("%q read as %q", rec, a)
		}
		if n, ok := parseSenderKeyName(string(rec)); ok && n.String() != string(rec) {
			t.Errorf("%q read as %q", rec, n)
		}
		if n, ok := splitName(string(rec)); ok && n.String() != string(rec) {
			t.Errorf("%q read as %q", rec, n)
		}
	})
}
