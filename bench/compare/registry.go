package main

import "slices"

// A subject does one operation again and again. prepare, if not nil, makes
// what the next n operations need and is not timed.
type subject struct {
	prepare func(n int) error
	run     func(n int) error
	size    int // how many operations each of the n is, if not one

	// observe, if not nil, measures processor time and write transactions.
	observe func() (cpu, writes float64, err error)
}

// steady is a subject without preparation that cannot fail.
func steady(f func()) (subject, error) {
	return subject{run: func(n int) error {
		for range n {
			f()
		}
		return nil
	}}, nil
}

// A contender is one library's way of doing an operation. setup is called once
// for each tier, under that tier.
type contender struct {
	op, lib string
	setup   func() (subject, error)
}

// contenders is filled by the files of this package, one a group of operations.
var contenders []contender

func contend(op, lib string, setup func() (subject, error)) {
	contenders = append(contenders, contender{op, lib, setup})
}

// order is the order of the output: the layers from below.
var order = []string{
	"field_mul", "field_square", "field_invert",
	"x25519", "x25519_batch4", "x25519_batch8", "x25519_batch64", "public_key", "keygen812", "fixed_base",
	"ed25519_sign", "ed25519_verify",
	"xeddsa_sign", "sign_batch64", "xeddsa_verify", "xeddsa_verify_prepared", "verify_batch64",
	"session_initiate", "session_respond",
	"dm_encrypt", "dm_decrypt", "dm_decrypt_ratchet", "group_encrypt", "group_decrypt", "skdm_process",
	"peer_send", "dm_send", "dm_send_5", "dm_recv", "dm_recv_steady",
	"cold_1000",
	"sqlite_dm_send", "sqlite_dm_recv",
	"marshal_small", "marshal_small_append", "unmarshal_small", "unmarshal_small_owned", "marshal_stanza", "unmarshal_stanza",
	"marshal_fanout8", "marshal_fanout32", "marshal_fanout128", "marshal_fanout512", "marshal_fanout512_append",
	"marshal_fanout_pkmsg8", "marshal_fanout_pkmsg32", "marshal_fanout_pkmsg128", "marshal_fanout_pkmsg512",
	"unmarshal_fanout8", "unmarshal_fanout32", "unmarshal_fanout128", "unmarshal_fanout512", "unmarshal_fanout512_owned",
	"group_send_8", "group_send_10", "group_send_32", "group_send_50", "group_send_128", "group_send_256", "group_send_512",
	"group_send_companions2_8", "group_send_companions2_512",
	"group_send_skdm_10", "group_send_skdm_50", "group_send_skdm_256",
	"group_send_first_10", "group_send_first_50", "group_send_first_256", "group_recv",
	"reporting_token",
	"prekeys_memory_64", "prekeys_memory_812", "prekeys_memory_populated", "prekeys_sqlite_812", "prekeys_sqlite_812_rows",
}

// operations lists what has a contender.
func operations() []string {
	var ops []string
	for _, op := range order {
		if slices.ContainsFunc(contenders, func(c contender) bool { return c.op == op }) {
			ops = append(ops, op)
		}
	}
	return ops
}
