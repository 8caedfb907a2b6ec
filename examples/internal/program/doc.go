// Package program is what the examples share: their flags, the clusters that
// they run on, and how they show what happens. An example says which clusters
// it needs and which stack it wants; see the folder singlecluster.
package program
