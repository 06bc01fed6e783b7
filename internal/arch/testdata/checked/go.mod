module github.com/glimdb/db

go 1.26
