package send

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/internal/testvec"
)

// checkHash checks the hash of devices in order, reversed and shuffled.
func checkHash(t *testing.T, name string, devices []binary.JID, want string) {
	t.Helper()
	list := append([]binary.JID(nil), devices...)
	r := rand.New(rand.NewPCG(1, uint64(len(list))))
	for range 3 {
		if got := ParticipantHash(list); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	}
}

func TestRecordedHashes(t *testing.T) {
	type single struct {
		Participant binary.JID
		Want        string `json:"wacore_rule"`
	}
	var file struct {
		Lists []struct {
			Name         string
			Participants []string
			Phash        string
		}
		RawAgent  []single `json:"raw_agent"`
		EmptyUser []single `json:"empty_user"`
	}
	testvec.Load(t, "phash", &file)
	if len(file.Lists) != 15 || len(file.RawAgent) == 0 || len(file.EmptyUser) == 0 {
		t.Fatal("vectors are missing")
	}
	for _, v := range file.Lists {
		devices := make([]binary.JID, len(v.Participants))
		for i, s := range v.Participants {
			var err error
			if devices[i], err = binary.ParseJID(s); err != nil {
				t.Fatal(err)
			}
		}
		checkHash(t, v.Name, devices, v.Phash)
	}
	for _, v := range append(file.RawAgent, file.EmptyUser...) {
		checkHash(t, v.Participant.Server, []binary.JID{v.Participant}, v.Want)
	}
}

func TestParticipantHash(t *testing.T) {
	devices := func(user string, server string, numbers ...uint16) (list []binary.JID) {
		for _, n := range numbers {
			list = append(list, binary.JID{User: user, Server: server, Device: n})
		}
		return list
	}
	for user, want := range map[string]string{
		"15550000054": "2:d5l+iw9/", "15550000274": "2:ZGMkQ/U+", "15550000322": "2:IYO+Pvs/",
	} {
		checkHash(t, user, devices(user, binary.ServerUser, 0, 1, 17), want)
	}
	var large []binary.JID
	for i := 100000; i < 101000; i++ {
		large = append(large, devices(fmt.Sprint(i), binary.ServerUser, 0, 1, 2)...)
	}
	checkHash(t, "3000 devices", large, "2:XNiTz8X5")
	for i := 101000; len(large) < 10000; i++ {
		large = append(large, devices(fmt.Sprint(i), binary.ServerLID, 0, 65535)...)
	}
	checkHash(t, "10000 devices", large, ParticipantHash(large))
	both := append(devices("5511988887777", binary.ServerLID, 14), devices("7469250125917", binary.ServerLID, 21)...)
	checkHash(t, "two on lid", both, "2:xVELSmNO")
}

func TestMessageID(t *testing.T) {
	draw := make([]byte, 16)
	for i := range draw {
		draw[i] = byte(i)
	}
	queue(t, draw)
	id, err := MessageID(time.Unix(1700000000, 999), binary.JID{User: "5511999887766", Server: binary.ServerUser, Device: 3})
	if err != nil || id != "3EB06ED89F35B81BD95BCC" {
		t.Errorf("MessageID = %s, %v", id, err)
	}
}

func TestMessageIDWithoutUser(t *testing.T) {
	defer random.Install(bytes.NewReader(make([]byte, 32)))()
	id, err := MessageID(time.Unix(1700000000, 0), binary.JID{})
	if err != nil || len(id) != 22 || id[:4] != "3EB0" {
		t.Errorf("MessageID = %s, %v", id, err)
	}
	other, err := MessageID(time.Unix(1700000001, 0), binary.JID{})
	if err != nil || other == id {
		t.Errorf("a second later: %s, %v", other, err)
	}
	if id, err := MessageID(time.Unix(0, 0), binary.JID{}); err == nil {
		t.Errorf("%s although nothing could be drawn", id)
	}
}
