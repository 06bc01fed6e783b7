package cluster

// Limits say how many clusters a question goes to. Zero fields take the defaults named.
type Limits struct {
	// Clusters is the number that every question goes to; default 2.
	Clusters int `json:"clusters,omitempty"`
	// Max bounds what is taken beyond that; default 8, at least Clusters.
	Max int `json:"max,omitempty"`
	// Slack also takes clusters whose score is at most this below the best; default 0.05.
	Slack float64 `json:"slack,omitempty"`
	// Threshold is the least score of the best cluster for a question that the clusters cover; default 0.3 for a
	// generation that was not tuned.
	Threshold float64 `json:"threshold,omitempty"`
}

// Defaults of Limits.
const (
	defaultClusters  = 2
	defaultMax       = 8
	defaultSlack     = 0.05
	defaultThreshold = 0.3
)

// WithDefaults fills zero fields.
func (l Limits) WithDefaults() Limits {
	def(&l.Clusters, defaultClusters)
	def(&l.Max, defaultMax)
	def(&l.Slack, defaultSlack)
	def(&l.Threshold, defaultThreshold)
	l.Max = max(l.Max, l.Clusters)
	return l
}

// Choose returns how many of the scored clusters, best first, a question goes to, and whether it is spread evenly: more
// than Max are within Slack of the best.
func (l Limits) Choose(s []Scored) (n int, even bool) {
	if len(s) == 0 {
		return 0, false
	}
	within := 0
	for within < len(s) && s[within].Score >= s[0].Score-l.Slack {
		within++
	}
	return min(max(l.Clusters, min(within, l.Max)), len(s)), within > l.Max
}
