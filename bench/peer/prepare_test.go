package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestPrepare: stanzas go out to devices that there is a session with, carry a
// reporting token, and name the others as failures.
func TestPrepare(t *testing.T) {
	const (
		self   = `"party":"a","own_jid":"15550000001:2@s.whatsapp.net","account":"cccc","message":"0a0548656c6c6f"`
		bob    = `15550000002@s.whatsapp.net`
		nobody = `15550000003@s.whatsapp.net`
	)
	setup := []string{
		`{"op":"party_new","party":"a","reg_id":5,"device":0}`,
		`{"op":"party_new","party":"b","reg_id":6,"device":0}`,
		`{"op":"set_spk","party":"b","key_id":1,"priv":"` + strings.Repeat("48", 32) + `"}`,
	}
	keys := converse(t, setup...)
	// The identity of b has to be known before, so the party is made of it again.
	setup[1] = fmt.Sprintf(`{"op":"party_new","party":"b","reg_id":6,"device":0,"identity_priv":%q}`, keys[1]["identity_priv"])
	keys = converse(t, setup...)
	lines := append(setup,
		fmt.Sprintf(`{"op":"process_bundle","party":"a","addr":{"name":"15550000002@c.us","device":0},"bundle":{"reg_id":6,"identity":%q,"spk_id":1,"spk":%q,"spk_sig":%q}}`,
			keys[1]["identity_pub"], keys[2]["pub"], keys[2]["sig"]),
		`{"op":"prepare_dm",`+self+`,"id":"3EB0","to":"`+bob+`","devices":["`+bob+`","15550000001@s.whatsapp.net"]}`,
		`{"op":"prepare_group",`+self+`,"id":7,"message_id":"3EB0","to":"120363000000000001@g.us","group":{"participants":["`+bob+`","`+nobody+`"],"addressing_mode":"pn"},"force_distribution":true}`,
		`{"op":"prepare_group",`+self+`,"id":"3EB0","to":"120363000000000001@g.us","distribution_targets":["`+nobody+`"],"policy":"required"}`,
		`{"op":"prepare_group",`+self+`,"id":"3EB0","to":"120363000000000001@g.us","phash_devices":["`+bob+`"]}`,
		`{"op":"prepare_group",`+self+`,"id":"3EB0","to":"status@broadcast","group":{"participants":["`+bob+`","`+nobody+`"]},"distribution_targets":["`+nobody+`"]}`,
		`{"op":"prepare_peer",`+self+`,"id":"3EB0","to":"`+bob+`"}`,
		`{"op":"prepare_peer",`+self+`,"id":5,"to":"`+bob+`"}`,
	)
	got := converse(t, lines...)[4:]
	for i, want := range []struct{ class, failures, keyed, tags string }{
		{"", "15550000001@s.whatsapp.net no_session", "-", "participants device-identity reporting"},
		{"", nobody + " no_session", bob, "participants device-identity enc reporting"},
		{class: "no_session"},
		{"", "", "", "enc reporting"},
		{"", nobody + " no_session", "", "participants enc reporting"},
		{"", "", "-", "meta enc device-identity"},
		{class: "bad_request"},
	} {
		a := got[i]
		if want.class != "" {
			if a["ok"] != false || a["class"] != want.class {
				t.Errorf("%d: %v, want class %s", i, a, want.class)
			}
			continue
		}
		if a["ok"] != true || !strings.HasPrefix(fmt.Sprint(a["frame"]), "00f8") {
			t.Errorf("%d: %v", i, a)
			continue
		}
		var failures, keyed, tags []string
		for _, f := range a["failures"].([]any) {
			failures = append(failures, fmt.Sprintf("%v %v", f.(map[string]any)["jid"], f.(map[string]any)["class"]))
		}
		if list, ok := a["skdm_devices"].([]any); ok {
			for _, d := range list {
				keyed = append(keyed, fmt.Sprint(d))
			}
		} else {
			keyed = []string{"-"}
		}
		for _, n := range a["node"].(map[string]any)["content"].(map[string]any)["nodes"].([]any) {
			tags = append(tags, fmt.Sprint(n.(map[string]any)["tag"]))
		}
		for what, pair := range map[string][2]string{
			"failures": {strings.Join(failures, " "), want.failures}, "skdm_devices": {strings.Join(keyed, " "), want.keyed}, "children": {strings.Join(tags, " "), want.tags},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%d: %s %q, want %q", i, what, pair[0], pair[1])
			}
		}
	}
}
