// Conformance answers the requests of policy/cases/run.py with the package.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

type row struct {
	method, target, byScope, scopes, kind, verb, template string
	options                                               []orbgate.Option
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	first := 0
	for input.Scan() {
		count, file, _ := strings.Cut(input.Text(), "\t")
		rows := make([]row, must(strconv.Atoi(count)))
		for at := range rows {
			input.Scan()
			cells := strings.Split(input.Text(), "\t")
			for text := range 4 {
				cells[text] = string(must(hex.DecodeString(cells[text])))
			}
			rows[at] = row{cells[0], cells[1], cells[2], cells[3], cells[4], cells[6], cells[7], nil}
			if cells[5] == "yes" {
				rows[at].options = []orbgate.Option{orbgate.AllowBonusOrbs}
			}
		}
		engine := load(file)
		for _, way := range []string{"", " set"} {
			answer(output, engine, rows, first, way)
		}
		engine.Close()
		first += len(rows)
	}
}

func load(file string) *orbgate.Engine {
	if file == "" {
		return must(orbgate.External())
	}
	return must(orbgate.FromFile(file))
}

// One by one and in a batch, with scopes as text or interned.
func answer(output *bufio.Writer, engine *orbgate.Engine, rows []row, first int, way string) {
	var batch orbgate.Batch
	var numbers []int
	for at, row := range rows {
		token := orbgate.Token{Kind: orbgate.TokenKindOf(row.kind), Scopes: row.scopes}
		switch {
		case row.kind == "":
			token = orbgate.NoToken()
		case way != "":
			token = orbgate.Token{Kind: token.Kind, ScopeSet: must(engine.ScopeSet(row.scopes))}
		}
		if row.byScope != "" {
			say(output, first+at, "single"+way, engine.DecideScope(row.byScope, token, row.options...))
			continue
		}
		say(output, first+at, "single"+way, engine.Decide(row.method, row.target, token, row.options...))
		batch.Add(row.method, row.target, token, row.options...)
		numbers = append(numbers, first+at)
		if row.verb != "" {
			route := must(engine.FindRoute(row.verb, row.template))
			say(output, first+at, "route"+way, engine.DecideRoute(route, token, row.options...))
		}
	}
	for at, decision := range must(engine.DecideBatch(nil, &batch)) {
		say(output, numbers[at], "batch"+way, decision)
	}
}

func say(output *bufio.Writer, number int, form string, decision orbgate.Decision) {
	words := must(decision.Words())
	if decision.Reason().String() != words.Reason || decision.Detail().String() != words.Detail {
		panic(fmt.Sprint(words, " and ", decision.Reason(), " ", decision.Detail()))
	}
	status, orbs := "", ""
	if !decision.IsAllow() {
		status = strconv.Itoa(decision.HTTPStatus())
	}
	if charge, stated := decision.Charge(); stated {
		amount := "null"
		if charge.AmountStated {
			amount = strconv.FormatUint(charge.Amount, 10)
		}
		orbs = fmt.Sprint(charge.Consumes, " ", amount, " ", charge.BonusAllowed)
	}
	cells := []string{strconv.Itoa(number), form, words.Decision, status, words.Reason, words.Detail, words.API, words.Route, words.Scope, orbs, decision.About()}
	fmt.Fprintln(output, strings.Join(cells, "\t"))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
