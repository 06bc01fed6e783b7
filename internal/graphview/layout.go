package graphview

import "math"

// point is a place in the picture, in pixels at zoom 1.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

const (
	spacing   = 90     // what joined nodes are drawn to, roughly
	gravity   = 0.5    // keeps what is not connected in the picture
	pairSteps = 1.5e8  // pairs looked at in all: about a second
	minSteps  = 40     // below that nothing settles
	maxSteps  = 300    // above that little changes
	golden    = 2.3999 // radians between neighbours on the spiral
)

// layout places n nodes after Fruchterman and Reingold, "Graph Drawing by Force-directed Placement" (1991): all
// nodes repel each other, edges pull, and the steps get smaller. Gravity is added, and the nodes begin on a spiral
// in their order, so that the same graph is drawn the same way. The cost is n² for each of 40 to 300 steps.
func layout(n int, edges [][2]int) []point {
	at, force := make([]point, n), make([]point, n)
	for i := range at {
		r, angle := spacing*math.Sqrt(float64(i)), golden*float64(i)
		at[i] = point{r * math.Cos(angle), r * math.Sin(angle)}
	}
	steps := int(min(maxSteps, max(minSteps, 2*pairSteps/float64(n*n+1))))
	reach := spacing * math.Sqrt(float64(n)) // of the first step, a part of the spiral's radius
	for step := range steps {
		for i, p := range at {
			away := math.Hypot(p.X, p.Y)
			force[i] = point{-gravity * p.X * (1 + away/reach), -gravity * p.Y * (1 + away/reach)}
		}
		for i, p := range at {
			for j := range i {
				dx, dy := p.X-at[j].X, p.Y-at[j].Y
				push := spacing * spacing / max(dx*dx+dy*dy, 1)
				force[i].X, force[i].Y = force[i].X+dx*push, force[i].Y+dy*push
				force[j].X, force[j].Y = force[j].X-dx*push, force[j].Y-dy*push
			}
		}
		for _, e := range edges {
			i, j := e[0], e[1]
			dx, dy := at[i].X-at[j].X, at[i].Y-at[j].Y
			pull := math.Hypot(dx, dy) / spacing
			force[i].X, force[i].Y = force[i].X-dx*pull, force[i].Y-dy*pull
			force[j].X, force[j].Y = force[j].X+dx*pull, force[j].Y+dy*pull
		}
		most := 0.1 * reach * (1 - float64(step)/float64(steps))
		for i, f := range force {
			if length := math.Hypot(f.X, f.Y); length > most {
				f = point{f.X * most / length, f.Y * most / length}
			}
			at[i] = point{at[i].X + f.X, at[i].Y + f.Y}
		}
	}
	for i, p := range at {
		at[i] = point{math.Round(p.X), math.Round(p.Y)}
	}
	return at
}
