package flyte

import (
	"net/netip"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// plainYAML reports whether the text, written into YAML without quotes, reads
// back as the same text. The chart does so with several values.
func plainYAML(text string) bool {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte("value: "+text+"\n"), &doc); err != nil {
		return false
	}
	read, ok := doc["value"].(string)
	return ok && len(doc) == 1 && read == text
}

// isHost reports whether the text is a DNS name or an IP address.
func isHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return len(validation.IsDNS1123Subdomain(text)) == 0 && !onlyDigitsAndDots.MatchString(text)
}

// onlyDigitsAndDots matches what means to be an IP address and is none.
var onlyDigitsAndDots = regexp.MustCompile(`^[0-9.]+$`)
