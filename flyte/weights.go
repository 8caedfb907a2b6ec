package flyte

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// decimals turns whole-numbered weights into decimals that add up to 1, as few
// digits as tell them apart: 30 and 70 are 0.3 and 0.7, three equal ones
// 0.334, 0.333 and 0.333. All of them zero stay zero.
func decimals(weights []int) []float64 {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	shares := make([]float64, len(weights))
	if sum == 0 {
		return shares
	}
	const most = 6 // flyteadmin reads a float32, which holds seven digits
	for digits := 0; digits <= most; digits++ {
		units := int(math.Pow10(digits))
		parts, exact := apportion(weights, sum, units)
		if !exact && (digits < 3 || digits < most && !close1(parts, weights, sum, units)) {
			continue
		}
		for i, part := range parts {
			shares[i] = decimal(part, digits)
		}
		break
	}
	return shares
}

// apportion divides units by weights, the largest remainders rounded up. It
// tells whether nothing had to be rounded.
func apportion(weights []int, sum, units int) (parts []int, exact bool) {
	parts = make([]int, len(weights))
	order := make([]int, len(weights))
	left := units
	for i, w := range weights {
		parts[i] = w * units / sum
		left -= parts[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return weights[b]*units%sum - weights[a]*units%sum })
	for _, i := range order[:left] {
		parts[i]++
	}
	return parts, left == 0
}

// close1 reports whether every part is within one percent of its weight.
func close1(parts, weights []int, sum, units int) bool {
	for i, part := range parts {
		want := float64(weights[i]) / float64(sum)
		if math.Abs(float64(part)/float64(units)-want) > 0.01*want {
			return false
		}
	}
	return true
}

// decimal is n units of the last of so many digits, as the number that prints so.
func decimal(n, digits int) float64 {
	text := strconv.Itoa(n)
	if digits > 0 {
		if len(text) <= digits {
			text = strings.Repeat("0", digits-len(text)+1) + text
		}
		text = text[:len(text)-digits] + "." + text[len(text)-digits:]
	}
	f, _ := strconv.ParseFloat(text, 64)
	return f
}
