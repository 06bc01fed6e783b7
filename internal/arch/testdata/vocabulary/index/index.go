package index

type Chunk struct{ DocID string }
