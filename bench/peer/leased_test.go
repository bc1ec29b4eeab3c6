package main

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestLeasedParty opens, closes and kills a leased party: it has one owner at a
// time, and a killed one can be opened again.
func TestLeasedParty(t *testing.T) {
	where := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	open := fmt.Sprintf(`{"op":"party_new","party":"a","reg_id":1,"device":0,"store":%q,"durability":"leased"}`, where)
	durable := fmt.Sprintf(`{"op":"party_new","party":"a","reg_id":1,"device":0,"store":%q}`, where)
	want := func(lines []string, classes ...string) {
		t.Helper()
		for i, a := range converse(t, lines...) {
			class, _ := a["class"].(string)
			if (a["ok"] == true) != (classes[i] == "") || class != classes[i] {
				t.Errorf("%s: %v, want class %q", lines[i], a, classes[i])
			}
		}
	}
	shut, kill := `{"op":"party_close","party":"a"}`, `{"op":"party_kill","party":"a"}`
	want([]string{open, shut, open, kill, open, open, shut, durable, shut}, "", "", "", "", "", "", "", "", "")
	want([]string{open}, "")                        // and is not closed
	want([]string{open, durable}, "owned", "owned") // by another process
	want([]string{`{"op":"party_new","party":"a","durability":"no"}`}, "bad_request")
}
