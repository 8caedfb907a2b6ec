package flyte

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWeightsComeOutAsTheShortestDecimalsThatAddUpToOne(t *testing.T) {
	for weights, want := range map[string]struct {
		weights  []int
		decimals []float64
	}{
		"one":                       {[]int{7}, []float64{1}},
		"percentages":               {[]int{30, 70}, []float64{0.3, 0.7}},
		"the same in small":         {[]int{3, 7}, []float64{0.3, 0.7}},
		"halves":                    {[]int{1, 1}, []float64{0.5, 0.5}},
		"two digits":                {[]int{1, 3}, []float64{0.25, 0.75}},
		"three digits":              {[]int{1, 7}, []float64{0.125, 0.875}},
		"thirds, nearly":            {[]int{1, 1, 1}, []float64{0.334, 0.333, 0.333}},
		"a weight of zero":          {[]int{0, 1}, []float64{0, 1}},
		"all zero":                  {[]int{0, 0}, []float64{0, 0}},
		"a small one is not lost":   {[]int{1, 9999}, []float64{0.0001, 0.9999}},
		"a tiny one is not lost":    {[]int{1, 999_999}, []float64{0.000001, 0.999999}},
		"sevenths within a percent": {[]int{1, 6}, []float64{0.143, 0.857}},
	} {
		t.Run(weights, func(t *testing.T) {
			got := decimals(want.weights)
			assert.Equal(t, want.decimals, got)
			sum := 0.0
			for _, d := range got {
				sum += d
				assert.LessOrEqual(t, len(fmt.Sprint(d)), 8)
			}
			if sum != 0 {
				assert.InDelta(t, 1, sum, 1e-12)
			}
		})
	}
}

func FuzzWeights(f *testing.F) {
	f.Add(1, 2, 3)
	f.Add(0, 0, 1)
	f.Add(1, 1_000_000, 999_983)
	f.Fuzz(func(t *testing.T, a, b, c int) {
		weights := []int{a, b, c}
		sum := 0
		for _, w := range weights {
			if w < 0 || w > maxWeight {
				return
			}
			sum += w
		}
		total := 0.0
		for i, d := range decimals(weights) {
			total += d
			if d < 0 || d > 1 {
				t.Errorf("%v: %v is not within 0 and 1", weights, d)
			}
			if weights[i] == 0 && d != 0 {
				t.Errorf("%v: a weight of zero became %v", weights, d)
			}
		}
		if sum > 0 && (total < 1-1e-9 || total > 1+1e-9) {
			t.Errorf("%v: the decimals add up to %v", weights, total)
		}
	})
}
