package flyte_test

import (
	"fmt"
	"time"

	"github.com/planewright/planewright/flyte"
)

// A Prometheus of the chart kube-prometheus-stack collects Flyte's metrics.
func ExampleServiceMonitors() {
	monitoring := flyte.ServiceMonitors(map[string]string{"release": "prometheus"}).WithInterval(30 * time.Second)
	grown := flyte.NewDeployment("ml", flyte.V1_16_8).WithMonitoring(monitoring)
	fmt.Println(grown.Name())
	// Output: ml
}
