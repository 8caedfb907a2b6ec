package iam

import "strings"

// Partition is a part of AWS with accounts, regions and ARNs of its own:
// nothing in one can trust anything in another.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
type Partition string

// The partitions.
const (
	AWS      Partition = "aws"
	China    Partition = "aws-cn"
	GovCloud Partition = "aws-us-gov"
	ISO      Partition = "aws-iso"
	ISOB     Partition = "aws-iso-b"
	ISOE     Partition = "aws-iso-e"
	ISOF     Partition = "aws-iso-f"
	EUSC     Partition = "aws-eusc"
)

// PartitionOf returns the partition that a region is in, by the region's
// prefix; [AWS] for all that have no prefix of another one.
func PartitionOf(region string) Partition {
	for _, p := range []struct {
		prefix    string
		partition Partition
	}{
		{"cn-", China},
		{"us-gov-", GovCloud},
		{"us-isob-", ISOB},
		{"us-isof-", ISOF},
		{"us-iso-", ISO},
		{"eu-isoe-", ISOE},
		{"eusc-", EUSC},
	} {
		if strings.HasPrefix(region, p.prefix) {
			return p.partition
		}
	}
	return AWS
}

// known reports whether there is such a partition.
func (p Partition) known() bool {
	switch p {
	case AWS, China, GovCloud, ISO, ISOB, ISOE, ISOF, EUSC:
		return true
	}
	return false
}
