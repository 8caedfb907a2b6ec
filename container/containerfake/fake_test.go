package containerfake_test

import (
	"testing"

	"github.com/planewright/planewright/container/containerfake"
	"github.com/planewright/planewright/container/containertest"
)

func TestTheFakeKeepsTheContract(t *testing.T) {
	containertest.Run(t, func(*testing.T) containertest.Fixture {
		return containertest.Fixture{
			Engine: containerfake.New(containerfake.WithRegistry("registry.example/app:1", containerfake.Image{
				Files: map[string][]byte{"/etc/app": []byte("hello\n")}, Logs: []string{"starting", "ready"}})),
			Image: "registry.example/app:1", File: "/etc/app", Content: "hello\n", Line: "ready", Port: 18080,
		}
	})
}
