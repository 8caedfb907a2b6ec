// Package bench measures whole installs: on clusters in memory, against the
// time that rendering a chart takes, and on a real control plane, against the
// helm command doing the same. Figures that matter are ratios within one run,
// so that they mean the same on every machine:
//
//	make bench
package bench
