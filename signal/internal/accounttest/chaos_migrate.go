package accounttest

import "github.com/sigcore/sigcore/signal"

// mapping returns the phone number and the LID of an actor.
func (p *actor) mapping() signal.LIDMapping {
	return signal.LIDMapping{PN: p.name, LID: "1000000" + p.name[3:len(p.name)-len("c.us")] + "lid"}
}

// addrOf returns the address under which p keeps q.
func (p *actor) addrOf(q *actor) signal.Address {
	if p.migrated[q.name] {
		return signal.Address{Name: q.mapping().LID}
	}
	return q.addr
}

// senderKeyOf returns the name under which p keeps the sender key of q.
func (p *actor) senderKeyOf(q *actor) signal.SenderKeyName {
	return signal.SenderKeyName{Group: group, Sender: p.addrOf(q)}
}

// migrate has p move what it has of q to the LID, in any weather, until it is
// done. Sometimes there is a session under the LID already.
func (p *actor) migrate(q *actor) {
	m := p.m
	if p.migrated[q.name] {
		return
	}
	p.migrated[q.name] = true
	if m.rng.IntN(2) == 0 {
		p.renegotiate(m.calm(), q)
		p.send(m.calm(), q)
	}
	for {
		got, err := p.account().MigrateToLID(m.weather(), q.mapping())
		m.say("%s migrates %s: %+v: %v", p.name[7:11], q.name[7:11], got.Devices, err)
		if err == nil {
			for _, d := range got.Devices {
				if d.Err != nil || d.IdentityConflict || d.Dropped != 0 {
					m.failf("migration: %+v", d)
				}
			}
			return
		}
		if !foul(err) {
			m.failf("migrate: %v", err)
			return
		}
	}
}

// recall finds out whom p knows under a LID, after its state has gone back.
func (p *actor) recall() {
	for _, q := range p.m.actors {
		names, err := p.account().Counterparts(p.m.calm(), []string{q.name})
		if err != nil {
			p.m.failf("counterparts: %v", err)
			return
		}
		p.migrated[q.name] = names[0] != ""
	}
}
