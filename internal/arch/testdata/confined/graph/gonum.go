package graph

import _ "gonum.org/v1/gonum/graph"
