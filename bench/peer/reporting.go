package main

import (
	"fmt"

	"github.com/sigcore/sigcore/send"
)

func init() {
	features = append(features, "reporting")
	register("reporting_content", func(_ *peer, r *struct{ Msg *hexBytes }) (answer, error) {
		if r.Msg == nil {
			return nil, missing("msg")
		}
		return answer{"content": hexBytes(send.ReportingContent(*r.Msg))}, nil
	})
	register("reporting_token", func(_ *peer, r *struct {
		Msg, Secret    *hexBytes
		MsgID          *string `json:"msg_id"`
		Sender, Remote *string
	},
	) (answer, error) {
		if r.Msg == nil || r.Secret == nil || r.MsgID == nil || r.Sender == nil || r.Remote == nil {
			return nil, missing("msg, secret, msg_id, sender or remote")
		}
		content := send.ReportingContent(*r.Msg)
		if len(content) == 0 {
			return nil, fmt.Errorf("%w: nothing to report", errBadRequest)
		}
		key, err := send.ReportingKey(*r.Secret, *r.MsgID, *r.Sender, *r.Remote)
		if err != nil {
			return nil, err
		}
		token := send.ReportingToken(&key, content)
		return answer{"token": hexBytes(token[:]), "key": hexBytes(key[:]), "content": hexBytes(content)}, nil
	})
}
