package flyte

import (
	"fmt"

	"github.com/planewright/planewright"
)

// LogLinks are the links from a task in Flyte's console to its logs. Make
// them with [CloudWatchLogs] or [StackdriverLogs]. Something must ship the logs there.
type LogLinks struct {
	kind, region, cluster, project string
}

const (
	logsCloudWatch  = "cloudwatch"
	logsStackdriver = "stackdriver"
)

// CloudWatchLogs links to the log group of an EKS cluster, as the CloudWatch agent names it.
func CloudWatchLogs(region, cluster string) LogLinks {
	return LogLinks{kind: logsCloudWatch, region: region, cluster: cluster}
}

// StackdriverLogs links to Google Cloud's log viewer.
func StackdriverLogs(project string) LogLinks {
	return LogLinks{kind: logsStackdriver, project: project}
}

// consoleHosts are the hosts of the AWS consoles by partition.
func consoleHost(region string) string {
	switch awsPartition(region) {
	case "aws-cn":
		return "console.amazonaws.cn"
	case "aws-us-gov":
		return "console.amazonaws-us-gov.com"
	}
	return "console.aws.amazon.com"
}

// uri is the link with Flyte's own template variables in it.
func (l LogLinks) uri() string {
	if l.kind == logsStackdriver {
		return "https://console.cloud.google.com/logs/query;query=" +
			"resource.labels.namespace_name%3D%22{{.namespace}}%22%0A" +
			"resource.labels.pod_name%3D%22{{.podName}}%22%0A" +
			"resource.labels.container_name%3D%22{{.containerName}}%22?project=" + l.project
	}
	return fmt.Sprintf("https://%s/cloudwatch/home?region=%s#logEventViewer:group=/aws/eks/%s/cluster;"+
		"stream=var.log.containers.{{.podName}}_{{.namespace}}_{{.containerName}}-{{.containerId}}.log",
		consoleHost(l.region), l.region, l.cluster)
}

// values switches the links on that are wanted, and off those that an overlay
// switches on with placeholders in them.
func (l LogLinks) values() map[string]any {
	plugins := map[string]any{}
	for _, kind := range []string{logsCloudWatch, logsStackdriver} {
		plugins[kind] = map[string]any{"enabled": false, "templateUri": ""}
		if kind == l.kind {
			plugins[kind] = map[string]any{"enabled": true, "templateUri": l.uri()}
		}
	}
	return plugins
}

func (l LogLinks) validate(p *planewright.Problems) {
	switch l.kind {
	case logsCloudWatch:
		if !awsRegion.MatchString(l.region) {
			p.Add("logLinks.region", l.region, "an AWS region looks like us-east-1", "use the region's code, not its name")
		}
		if !eksName.MatchString(l.cluster) {
			p.Add("logLinks.cluster", l.cluster, "an EKS cluster's name has at most 100 letters, digits, hyphens and underscores", "use the cluster's name, not its ARN")
		}
	case logsStackdriver:
		if !gcpProject.MatchString(l.project) {
			p.Add("logLinks.project", l.project, "a Google Cloud project id has 6 to 30 lower-case letters, digits and hyphens", "use the project's id, not its name or number")
		}
	}
}
