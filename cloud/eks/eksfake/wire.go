package eksfake

import (
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/planewright/planewright/cloud/eks"
)

// Handler is the account over HTTP, in the protocols of AWS, so that the SDK's
// own clients talk to it ([Fake.ConfigAt] makes them): IAM's query protocol
// with XML at POST /, KMS's JSON there too, EKS's REST with JSON below
// /clusters, and S3's REST with XML below the bucket's name. Signatures are
// not looked at.
func (f *Fake) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amzn-Requestid", "11111111-1111-1111-1111-111111111111")
		switch {
		case strings.HasPrefix(r.URL.Path, "/clusters"):
			f.serveEKS(w, r)
		case strings.HasPrefix(r.Header.Get("X-Amz-Target"), "TrentService."):
			f.serveKMS(w, r)
		case r.URL.Path != "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			f.serveS3(w, r)
		case r.URL.Path == "/" && r.Method == http.MethodPost:
			f.serveIAM(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// ConfigAt returns what an account is made of, with the SDK's own clients for a
// server that has the fake's [Fake.Handler] at the URL. They try a call three
// times. Tokens for clusters are the fake's, since no STS is behind the handler.
//
//	server := httptest.NewServer(fake.Handler())
//	account := eks.New(fake.ConfigAt(server.URL))
func (f *Fake) ConfigAt(url string) eks.Config {
	at, login := aws.String(url), credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "made-up", "")
	config := f.Config()
	config.IAM = awsiam.New(awsiam.Options{Region: f.region, BaseEndpoint: at, Credentials: login, RetryMaxAttempts: tries})
	config.EKS = awseks.New(awseks.Options{Region: f.region, BaseEndpoint: at, Credentials: login, RetryMaxAttempts: tries})
	config.S3 = s3.New(s3.Options{Region: f.region, BaseEndpoint: at, Credentials: login, RetryMaxAttempts: tries, UsePathStyle: true})
	config.KMS = kms.New(kms.Options{Region: f.region, BaseEndpoint: at, Credentials: login, RetryMaxAttempts: tries})
	return config
}

// tries is how often the SDK's clients try a call.
const tries = 3

// invoke calls an operation of a client by its name, with an input that fill
// sets, and returns its output.
func invoke(r *http.Request, client any, operation string, fill func(reflect.Value) error) (reflect.Value, error) {
	method := reflect.ValueOf(client).MethodByName(operation)
	if !method.IsValid() {
		return reflect.Value{}, apiErrorOf(http.StatusBadRequest, "InvalidAction", "Could not find operation %s", operation)
	}
	input := reflect.New(method.Type().In(1).Elem())
	if err := fill(input.Elem()); err != nil {
		return reflect.Value{}, apiErrorOf(http.StatusBadRequest, "ValidationError", "%v", err)
	}
	answers := method.Call([]reflect.Value{reflect.ValueOf(r.Context()), input})
	if err, ok := answers[1].Interface().(error); ok {
		return reflect.Value{}, err
	}
	return answers[0].Elem(), nil
}

// answered takes an error of the fake apart: status, code, message. One
// without an answer breaks the connection.
func answered(err error) (status int, code, message string, ok bool) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return 0, "", "", false
	}
	status = http.StatusBadRequest
	var response *awshttp.ResponseError
	var own apiError
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	} else if errors.As(err, &own) {
		status = own.status
	}
	return status, api.ErrorCode(), api.ErrorMessage(), true
}

// breakOff ends the connection without an answer.
func breakOff(w http.ResponseWriter) {
	if hijacker, ok := w.(http.Hijacker); ok {
		if conn, _, err := hijacker.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

// fields calls f for each field of a struct that is part of the protocol.
func fields(v reflect.Value, f func(name string, field reflect.Value) error) error {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !v.Type().Field(i).IsExported() || name == "ResultMetadata" || strings.HasPrefix(name, "NoSmithy") {
			continue
		}
		if err := f(name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}
