// Package planewright holds the words that all other packages share: steps,
// stacks, plans, reports, findings, secrets, and the verbs that act on them.
package planewright
