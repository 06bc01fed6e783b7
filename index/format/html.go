package format

import (
	"slices"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// fromHTML returns a page's content as Markdown: headings, lists and tables are kept, pictures are their
// descriptions. Scripts, styles and what leads elsewhere (nav, aside) are left out. The page's title comes
// first unless a heading says the same.
func fromHTML(page string) (string, error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", err
	}
	title := oneLine(find(doc, atom.Title))
	heading := oneLine(find(doc, atom.H1))
	prepare(doc)
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(table.WithHeaderPromotion(true), table.WithSkipEmptyRows(true),
			table.WithSpanCellBehavior(table.SpanBehaviorMirror), table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	raw, err := conv.ConvertNode(doc)
	if err != nil {
		return "", err
	}
	text := string(raw)
	switch {
	case title == "", strings.HasPrefix(strings.TrimLeft(text, "# \n"), title):
	case heading != "" && strings.Contains(strings.ToLower(title), strings.ToLower(heading)): // with the name of the site
	default:
		text = "# " + title + "\n\n" + text
	}
	return text, nil
}

// prepare makes a page's tree ready for conversion.
func prepare(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.CommentNode, isAround(c):
			n.RemoveChild(c)
		case c.DataAtom == atom.Img:
			alt := strings.Join(strings.Fields(attribute(c, "alt")), " ")
			n.InsertBefore(&html.Node{Type: html.TextNode, Data: alt}, c)
			n.RemoveChild(c)
		default:
			if c.DataAtom == atom.Table {
				prepareTable(c)
			}
			prepare(c)
		}
		c = next
	}
}

// isAround is whether an element stands around the content, or is the title, which was read before.
func isAround(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Title, atom.Nav, atom.Aside, atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Button, atom.Select, atom.Svg:
		return true
	}
	role := attribute(n, "role")
	return role == "navigation" || role == "complementary" || n.Type == html.ElementNode && hasAttribute(n, "hidden")
}

// prepareTable makes the cells of a table single lines, which is all that Markdown can hold. A table that
// is there for the layout, or holds what no line can, becomes blocks, a cell each.
func prepareTable(t *html.Node) {
	if attribute(t, "role") == "presentation" || attribute(t, "role") == "none" || !tabular(t) {
		blocks(t)
		return
	}
	for _, cell := range all(t, atom.Td, atom.Th) {
		for _, b := range all(cell, atom.P, atom.Div, atom.Br, atom.Pre) {
			b.DataAtom, b.Data = atom.Span, "span"
			b.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, b)
			b.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, b.NextSibling)
		}
		joinLines(cell)
	}
}

// tabular is whether every cell of a table can be one line of Markdown.
func tabular(t *html.Node) bool {
	for p := t.Parent; p != nil; p = p.Parent { // marks around it would be torn apart
		switch p.DataAtom {
		case atom.A, atom.Strong, atom.B, atom.Em, atom.I, atom.Del, atom.S, atom.Strike:
			return false
		}
	}
	return len(all(t, atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Blockquote, atom.Hr,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)) == 0
}

// blocks turns a table's own parts into blocks; tables in it are left to themselves.
func blocks(n *html.Node) {
	switch n.DataAtom {
	case atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption:
		n.DataAtom, n.Data = atom.Div, "div"
	}
	for c := range n.ChildNodes() {
		if c.DataAtom != atom.Table {
			blocks(c)
		}
	}
}

// joinLines replaces line ends in all texts below n.
func joinLines(n *html.Node) {
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			c.Data = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(c.Data)
		}
	}
}

// all lists the elements below n that are one of these.
func all(n *html.Node, atoms ...atom.Atom) (found []*html.Node) {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && slices.Contains(atoms, c.DataAtom) {
			found = append(found, c)
		}
	}
	return found
}

// find is the first element of a kind below n, nil when there is none. A title of a drawing is none of
// the page.
func find(n *html.Node, a atom.Atom) *html.Node {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.DataAtom == a && c.Namespace == "" {
			return c
		}
	}
	return nil
}

// oneLine is the text below n as one line.
func oneLine(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}
