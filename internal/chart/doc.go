// Package chart draws lines over two axes as SVG or PNG: what a report needs, and no more. A plotting library would
// bring fonts and formats of its own into every program that embeds the database.
//
// PNG is drawn with the rasteriser and the fixed 7x13 font of golang.org/x/image, which has Latin letters alone; SVG
// takes any text. Both lay out alike. It owns no on-disk keys; its functions are pure, and equal charts give equal bytes.
package chart
