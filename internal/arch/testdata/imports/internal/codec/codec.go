package codec

import _ "github.com/glimdb/db/internal/space"
