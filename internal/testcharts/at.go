package testcharts

import (
	"bytes"
	"io/fs"
	"strings"
	"testing/fstest"
)

// current is the version of the charts.
const current = "v1.16.8"

// At returns the charts as those of another release of Flyte 1, for upgrades.
// For one of Flyte 2 they are those of [Flyte2].
// Before v1.16 what they call connectors is called agents, as in the published
// charts, the one difference that values of a deployment's own are about.
func At(version string) fs.FS {
	if strings.HasPrefix(version, "v2.") {
		return Flyte2()
	}
	renames := []string{current, version}
	if strings.HasPrefix(version, "v1.15.") {
		renames = append(renames,
			"flyteconnector", "flyteagent", "connectorService", "agentService", "defaultConnector", "defaultAgent",
			"connector_service", "agent_service", "connector-service", "agent-service")
	}
	files := fstest.MapFS{}
	from := FS()
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		for i := 0; i < len(renames); i += 2 {
			data = bytes.ReplaceAll(data, []byte(renames[i]), []byte(renames[i+1]))
		}
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		// The folder is part of this package.
		panic(err)
	}
	return files
}
