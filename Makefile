# What a person and CI run, under the same names. `make test` is all of it.

GO ?= go
BIN := $(CURDIR)/bin
MODULES := . cloud/iam/oracle cloud/eks/kumo internal/kubestack e2e bench
# Everything but the race detector's tests is built without cgo and with
# -trimpath, so that all of it shares one build cache.
PLAIN := CGO_ENABLED=0 GOFLAGS=-trimpath

.PHONY: test lint unit faults e2e bench cluster vuln apidiff tidy golden clean

# Everything that must hold before a change lands.
test: lint vuln unit e2e

# Formatting, vet, linters, and go.mod files that say what is used.
lint: $(BIN)/golangci-lint
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt would change:"; echo "$$files"; exit 1; }
	@for m in $(MODULES); do echo "lint $$m"; (cd $$m && export $(PLAIN) && $(GO) mod tidy -diff && $(BIN)/golangci-lint run --config $(CURDIR)/.golangci.yml ./...) || exit 1; done

# The library on its fakes, with the race detector and a sample of the fault matrix.
unit:
	$(GO) test -race -shuffle=on -short -timeout 30m ./...
	cd cloud/iam/oracle && $(PLAIN) $(GO) test ./...
	cd cloud/eks/kumo && $(PLAIN) $(GO) test ./...

# The whole fault matrix: every fault at every call of an install. Minutes.
faults:
	$(PLAIN) $(GO) test -timeout 40m -v -run EveryFault ./flyte

# The contract suites and the examples on real API servers.
e2e:
	cd internal/kubestack && $(PLAIN) $(GO) build -o $(BIN)/kubestack ./cmd/kubestack && $(BIN)/kubestack build
	cd internal/kubestack && $(PLAIN) $(GO) test ./...
	cd e2e && $(PLAIN) $(GO) test -timeout 30m ./...

bench:
	cd bench && $(PLAIN) $(GO) test -run '^$$' -bench . -benchtime 3x ./...

# Real clusters for people, until interrupted: make cluster CLUSTERS=main,dp-1
CLUSTERS ?= main
cluster:
	cd internal/kubestack && $(PLAIN) $(GO) build -o $(BIN)/kubestack ./cmd/kubestack
	exec $(BIN)/kubestack up -clusters $(CLUSTERS)

# Known vulnerabilities that the code reaches. Those of the standard library
# go away with the next Go release and only warn.
vuln: $(BIN)/govulncheck
	$(PLAIN) .ci/vuln $(BIN)

# What changed in the public interface since the last release.
apidiff: $(BIN)/apidiff
	.ci/apidiff $(BIN)

tidy:
	for m in $(MODULES) internal/tools; do (cd $$m && $(GO) mod tidy) || exit 1; done

# Rewrite the golden files; look at the difference before you commit it.
golden:
	$(GO) test ./... -update

clean:
	rm -rf bin out

$(BIN)/golangci-lint $(BIN)/govulncheck $(BIN)/apidiff: internal/tools/go.sum
	cd internal/tools && $(PLAIN) $(GO) build -o $(BIN)/ tool
	@touch $(BIN)/golangci-lint $(BIN)/govulncheck $(BIN)/apidiff
