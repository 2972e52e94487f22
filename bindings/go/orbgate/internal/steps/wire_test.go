package steps

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Answers of the library of any release, right and wrong ones: see the file.
func TestAnswersAreReadOrRefused(t *testing.T) {
	text, err := os.ReadFile("../../../../../crates/orbgate-capi/testdata/answers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	// Read over each other, as in a step that serves one request after another.
	reply := new(Reply)
	rows := 0
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		message, err := hex.DecodeString(cells[1])
		if err != nil {
			t.Fatal(err)
		}
		is := "refused"
		if reply.Read(message) {
			is = strconv.Itoa(int(reply.Number))
		} else if reply.Answer.HTTPStatus != 0 || reply.Number != 0 {
			t.Errorf("%s: something is left", cells[0])
		}
		status := uint64(0)
		if reply.Number == KindAnswer {
			status = reply.Answer.HTTPStatus
		}
		if is != cells[2] || strconv.FormatUint(status, 10) != cells[3] {
			t.Errorf("%s: %s with status %d, not %s with %s", cells[0], is, status, cells[2], cells[3])
		}
		rows++
	}
	if rows < 50 {
		t.Errorf("%d rows", rows)
	}
}

// What an answer has says nothing about the next one.
func TestNothingIsLeftOfAnEarlierAnswer(t *testing.T) {
	token := func(fields ...[]byte) []byte { return putText(nil, 10, string(join(fields...))) }
	first := join(putInteger(nil, critical|2, 403), putFlag(nil, critical|3), putText(nil, 6, "expired"),
		token(putText(nil, 2, "a b"), putText(nil, 4, "user-7")))
	reply := new(Reply)
	if !reply.Read(putText(nil, KindAnswer, string(first))) || reply.Answer.Token.Subject != "user-7" || !reply.Answer.Preflight {
		t.Fatalf("%+v", reply.Answer)
	}
	// As long as the earlier one's.
	other := token(putText(nil, 2, "c d"), putText(nil, 4, "user-8"))
	if !reply.Read(putText(nil, KindAnswer, string(other))) || reply.Answer.Token.Scopes != "c d" || reply.Answer.Token.Subject != "user-8" {
		t.Errorf("%+v", reply.Answer.Token)
	}
	for _, fields := range [][]byte{token(putText(nil, 2, "a b")), {}} {
		if !reply.Read(putText(nil, KindAnswer, string(fields))) {
			t.Fatal("refused")
		}
		answer := reply.Answer
		if answer.HTTPStatus != 0 || answer.Preflight || answer.Refused != "" || answer.Token.Subject != "" {
			t.Errorf("%+v", answer)
		}
	}
	if reply.Answer.HasToken || reply.Answer.Token != (Token{}) {
		t.Errorf("%+v", reply.Answer)
	}
}

func join(fields ...[]byte) (all []byte) {
	for _, field := range fields {
		all = append(all, field...)
	}
	return all
}
