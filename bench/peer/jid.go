package main

import (
	"encoding/json"
	"fmt"

	"github.com/sigcore/sigcore/binary"
)

// jidJSON is a JID in JSON. String is only written.
type jidJSON struct {
	User       string `json:"user"`
	Agent      uint8  `json:"agent"`
	Device     uint16 `json:"device"`
	Integrator uint16 `json:"integrator"`
	Server     string `json:"server"`
	String     string `json:"string,omitempty"`
}

func (j jidJSON) jid() binary.JID {
	return binary.JID{User: j.User, Server: j.Server, Agent: j.Agent, Device: j.Device, Integrator: j.Integrator}
}

func jidOf(j binary.JID) jidJSON {
	return jidJSON{User: j.User, Agent: j.Agent, Device: j.Device, Integrator: j.Integrator, Server: j.Server}
}

// jidOrText is a JID given as an object or in its display form.
type jidOrText struct{ binary.JID }

func (j *jidOrText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		jid, err := binary.ParseJID(text)
		j.JID = jid
		return err
	}
	var object jidJSON
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("%w: %w", errBadRequest, err)
	}
	j.JID = object.jid()
	return nil
}

func init() {
	register("jid_parse", func(_ *peer, r *struct{ JID *string }) (answer, error) {
		if r.JID == nil {
			return nil, missing("jid")
		}
		j, err := binary.ParseJID(*r.JID)
		if err != nil {
			return nil, err
		}
		out := jidOf(j)
		out.String = j.String()
		return answer{"jid": out}, nil
	})
}
