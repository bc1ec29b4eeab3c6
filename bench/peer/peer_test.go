package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/random"
)

// converse sends the lines to a fresh peer and returns its answers.
func converse(t *testing.T, lines ...string) []map[string]any {
	t.Helper()
	p := newPeer()
	defer random.Install(p.rng)()
	var out bytes.Buffer
	if err := p.serve(strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	var answers []map[string]any
	for line := range strings.Lines(out.String()) {
		var a map[string]any
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("answer %q: %v", line, err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines", len(answers), len(lines))
	}
	return answers
}

func TestRefusals(t *testing.T) {
	for line, class := range map[string]string{
		`{"op":"no_such_op"}`:                "unknown_op",
		`{"op":5}`:                           "bad_request",
		`{}`:                                 "bad_request",
		`not json`:                           "bad_request",
		`[1,2]`:                              "bad_request",
		`{"op":"dh","priv":"zz","pub":"05"}`: "bad_request",
		`{"op":"dh","priv":7,"pub":null}`:    "bad_request",
		`{"op":"pub","priv":""}`:             "bad_key",
		`{"op":"decode_point","bytes":""}`:   "bad_key",
		`{"op":"node_encode","node":{"tag":"a","attrs":{"k":"1","k":"2"}}}`:               "bad_request",
		`{"op":"node_encode","node":{"attrs":{}}}`:                                        "bad_request",
		`{"op":"node_decode"}`:                                                            "bad_request",
		`{"op":"node_decode","data":""}`:                                                  "malformed",
		`{"op":"encrypt","party":"nobody","addr":{"name":"a","device":1},"plaintext":""}`: "bad_request",
	} {
		a := converse(t, line)[0]
		if a["ok"] != false || a["class"] != class || a["error"] == "" {
			t.Errorf("%s: %v, want class %s", line, a, class)
		}
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	register("panic_for_test", func(*peer, *struct{}) (answer, error) { panic("on purpose") })
	defer delete(operations, "panic_for_test")
	a := converse(t, `{"op":"panic_for_test","id":"x"}`, `{"op":"info","id":2}`)
	if a[0]["ok"] != false || a[0]["id"] != "x" || a[1]["ok"] != true || a[1]["id"] != 2.0 {
		t.Errorf("answers %v", a)
	}
}

func TestRandomness(t *testing.T) {
	k := `"priv":"` + strings.Repeat("48", 32) + `","msg":"616263"`
	chunk := hex.EncodeToString(bytes.Repeat([]byte{0xab}, 64))
	a := converse(t,
		`{"op":"rng_seed","seed":"00"}`,
		`{"op":"sign",`+k+`}`,
		`{"op":"sign",`+k+`}`,
		`{"op":"rng_seed","seed":"00"}`,
		`{"op":"sign",`+k+`}`,
		`{"op":"rng_queue","chunks":["`+chunk+`"]}`,
		`{"op":"rng_log"}`,
		`{"op":"sign",`+k+`}`,
		`{"op":"sign",`+k+`}`,
		`{"op":"rng_log"}`,
		`{"op":"sign",`+k+`,"random":"`+chunk+`"}`,
		`{"op":"rng_seed"}`,
		`{"op":"sign",`+k+`}`,
	)
	first, second, again, queued, empty, given, free := a[1], a[2], a[4], a[7], a[8], a[10], a[12]
	if first["sig"] != again["sig"] || first["sig"] == second["sig"] {
		t.Error("a seed does not fix the stream")
	}
	if log := a[6]["log"].([]any); len(log) != 3 {
		t.Errorf("%d draws logged, want 3", len(log))
	}
	if queued["sig"] != given["sig"] || empty["ok"] != false || free["ok"] != true {
		t.Errorf("queue: %v, then %v, then %v", queued, empty, free)
	}
	if log := a[9]["log"].([]any); len(log) != 1 || log[0] != chunk {
		t.Errorf("log of the queued draw: %v", log)
	}
}

func TestAttributesKeepTheirOrder(t *testing.T) {
	const node = `{"tag":"iq","attrs":{"z":"1","a":{"jid":{"user":"15550001111","agent":0,"device":3,"integrator":0,"server":"s.whatsapp.net"}},"m":"x"},"content":{"nodes":[{"tag":"ping","attrs":{}}]}}`
	var n nodeJSON
	if err := json.Unmarshal([]byte(node), &n); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(n)
	if err != nil || string(out) != node {
		t.Errorf("%s: %v", out, err)
	}
}
