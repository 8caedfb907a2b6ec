module github.com/planewright/planewright/cloud/iam/oracle

go 1.26.0

require (
	github.com/hashicorp/awspolicyequivalence v1.7.0
	github.com/planewright/planewright v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/aws/aws-sdk-go-v2 v1.48.0 // indirect
	github.com/mitchellh/mapstructure v1.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/planewright/planewright => ../../..
