package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// The answers of a batch are those of the single requests, errors included.
func TestBatch(t *testing.T) {
	const k = `"48310000000000000000000000000000000000000000000000000000000000c5"`
	const l = `"90000000000000000000000000000000000000000000000000000000000000ee"`
	u := converse(t, `{"op":"pub","priv":`+l+`}`)[0]["pub"].(string)
	z := strings.Repeat("5a", 64)
	sig := converse(t, `{"op":"sign","priv":`+l+`,"msg":"00","random":"`+z+`"}`)[0]["sig"].(string)
	for kind, items := range map[string][]string{
		"pub": {`{"priv":` + k + `}`, `{"priv":"00"}`, `{"priv":` + l + `}`, `{"priv":7}`},
		"dh": {
			`{"priv":` + k + `,"pub":"` + u + `"}`, `{"priv":` + k + `,"pub":"04"}`, `{"priv":` + l + `,"pub":"` + u[2:] + `","strict":true}`,
			`{"priv":` + l + `,"pub":"` + strings.Repeat("00", 32) + `"}`, `{"priv":` + l + `,"pub":"` + strings.Repeat("00", 32) + `","strict":true}`,
		},
		"sign": {
			`{"priv":` + k + `,"msg":"00","random":"` + z + `"}`, `{"priv":` + k + `,"msg":"0011","random":"` + z + `"}`,
			`{"priv":` + l + `,"msg":"","random":"` + z + `"}`, `{"priv":` + l + `,"msg":"","random":"00"}`,
		},
		"verify": {
			`{"pub":"` + u + `","msg":"00","sig":"` + sig + `"}`, `{"pub":"` + u + `","msg":"01","sig":"` + sig + `"}`,
			`{"pub":"05","msg":"00","sig":"` + sig + `"}`, `{"pub":"` + u + `","msg":"00","sig":""}`, `{"pub":"04` + u[2:] + `","msg":"00","sig":"` + sig + `"}`,
		},
	} {
		var singles []string
		for _, item := range items {
			singles = append(singles, strings.Replace(item, "{", `{"op":"`+kind+`",`, 1))
		}
		want := converse(t, singles...)
		whole := converse(t, fmt.Sprintf(`{"op":"batch","kind":"%s","items":[%s]}`, kind, strings.Join(items, ",")))[0]
		got, ok := whole["results"].([]any)
		if !ok || len(got) != len(want) {
			t.Fatalf("%s: %v", kind, whole)
		}
		for i := range want {
			if !reflect.DeepEqual(got[i], any(want[i])) {
				a, _ := json.Marshal(got[i])
				t.Errorf("%s: item %d has the answer %s, a single request %v", kind, i, a, want[i])
			}
		}
	}
	if a := converse(t, `{"op":"batch","kind":"mac","items":[]}`)[0]; a["class"] != "bad_request" {
		t.Errorf("an unknown kind: %v", a)
	}
}
