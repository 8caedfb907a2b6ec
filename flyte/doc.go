// Package flyte describes Flyte deployments as values and turns them into steps.
package flyte
