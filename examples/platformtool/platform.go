package main

import (
	"fmt"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"sigs.k8s.io/yaml"
)

// Platform is the team's own file. It knows pools and teams; that these are
// labels and projects to Flyte is this tool's business.
type Platform struct {
	Name        string `json:"name"`
	Host        string `json:"host"`
	Certificate string `json:"certificate"`
	Bucket      string `json:"bucket"`
	Region      string `json:"region"`
	Database    string `json:"database"`
	Control     string `json:"control"`
	Clusters    []struct {
		Name  string `json:"name"`
		Pool  string `json:"pool"`
		Share int    `json:"share"`
		// Closed keeps new work away before the cluster is taken out.
		Closed bool `json:"closed"`
	} `json:"clusters"`
	Pools struct {
		Default string `json:"default"`
	} `json:"pools"`
	Teams []struct {
		Name string `json:"name"`
		Pool string `json:"pool"`
	} `json:"teams"`
}

// Parse reads the file; a key that it does not know is an error.
func Parse(text []byte) (Platform, error) {
	var p Platform
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		return p, fmt.Errorf("the platform's file: %w", err)
	}
	return p, nil
}

// Deployment is the platform as Flyte has it. What is wrong with it is told
// by the library's own validation.
func (p Platform) Deployment() flyte.Deployment {
	d := flyte.NewDeployment(p.Name, flyte.V1_16_8).
		WithStorage(flyte.S3(p.Bucket, p.Region)).
		WithDatabase(flyte.Postgres(p.Database, "flyteadmin").WithPassword(planewright.SecretFromEnv("PLATFORM_DB"))).
		WithControlPlane(flyte.NewControlPlane(p.Control).
			WithHost(p.Host).
			WithIngress(flyte.ALB(p.Certificate)).
			WithCatalog(flyte.InternalLoadBalancer()))
	pools := map[string][]flyte.ClusterWeight{}
	var order []string
	for _, c := range p.Clusters {
		plane := flyte.NewDataplane(c.Name, c.Name)
		if c.Closed {
			plane = plane.WithoutNewExecutions()
		} else {
			if pools[c.Pool] == nil {
				order = append(order, c.Pool)
			}
			pools[c.Pool] = append(pools[c.Pool], flyte.Weight(c.Name, c.Share))
		}
		d = d.WithDataplanes(plane)
	}
	labels := flyte.NewLabelMap().WithDefault(p.Pools.Default)
	for _, pool := range order {
		labels = labels.WithLabel(pool, pools[pool]...)
	}
	for _, team := range p.Teams {
		d = d.WithProjects(flyte.NewProject(team.Name))
		if team.Pool != "" {
			labels = labels.WithWholeProject(team.Name, team.Pool)
		}
	}
	return d.WithLabelMap(labels)
}
