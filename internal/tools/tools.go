//go:build tools

// Package tools pins the programs that check this repository. They live in a
// module of their own, so that users of the library never see what they need.
package tools

import (
	_ "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"
	_ "golang.org/x/exp/cmd/apidiff"
	_ "golang.org/x/perf/cmd/benchstat"
	_ "golang.org/x/vuln/cmd/govulncheck"
	_ "golang.org/x/vulndb/cmd/indexdb"
)
