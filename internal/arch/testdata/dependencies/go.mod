module github.com/glimdb/db

go 1.26

require example.com/one v1.0.0

require (
	example.com/one/two v1.2.3
	example.com/three/v2 v2.0.1 // indirect
)
