package flyte_test

import (
	"fmt"

	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
)

// One data plane runs Spark, with four executors unless a task says otherwise.
func ExampleSpark() {
	spark := flyte.Spark().WithConfig(kube.Values{"spark-config-default": []any{
		map[string]any{"spark.executor.instances": "4"},
	}})
	plane := flyte.NewDataplane("dp-1", "flyte-dp-1").WithPlugins(spark)
	fmt.Println(plane.Name(), "runs", spark)
	// Output: dp-1 runs spark for spark
}
