package main

import (
	"bytes"

	"github.com/sigcore/sigcore/send"
)

func init() {
	// The token of a message with a text that has its secret.
	contend("reporting_token", "sigcore", func() (subject, error) {
		const group = "120363000000000001@g.us"
		m := append([]byte{0x0a, 13}, "Hello, World!"...)
		m = append(m, 0x9a, 0x02, 34, 0x1a, 32)
		m = append(m, bytes.Repeat([]byte{0xaa}, send.ReportingSecretSize)...)
		return subject{run: func(n int) error {
			for range n {
				if r, err := send.NewReporting(m, "STANZA123", group, group); err != nil || r == nil {
					return errShape
				}
			}
			return nil
		}}, nil
	})
}
