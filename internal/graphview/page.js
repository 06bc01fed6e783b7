"use strict";
(() => {
  const view = JSON.parse(document.getElementById("data").textContent);
  view.nodes ||= [];
  view.edges ||= [];
  const some = (list) => list || []; // an empty list is written as null
  const byId = (id) => document.getElementById(id);
  const palette = ["#3b78b8", "#d9752b", "#4a9a5b", "#b8455a", "#7e5fb0", "#8a6a4f", "#c662a5", "#5f6b76", "#a59a2a", "#2aa0a8"];
  const otherColor = "#9aa7b3";

  // Names and texts are untrusted: they reach the page as text nodes only, with the characters made visible that
  // would steer the direction of writing.
  const plain = (s) => s.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  const element = (tag, text, className) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = plain(text);
    if (className) e.className = className;
    e.dir = "auto";
    return e;
  };
  const short = (s) => { const c = [...plain(s)]; return c.length > 28 ? c.slice(0, 27).join("") + "…" : c.join(""); };
  const figure = (n) => n.toLocaleString("en");
  const counted = (n, one, many) => figure(n) + " " + (n === 1 ? one : many);
  const outOf = (shown, all, one, many) => (shown < all ? figure(shown) + " of " : "") + counted(all, one, many);

  // Types by how many nodes have them; the most frequent ones have colours of their own.
  const counts = new Map();
  for (const n of view.nodes) counts.set(n.type, (counts.get(n.type) || 0) + 1);
  const types = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1));
  const color = (type) => palette[types.indexOf(type)] || otherColor;
  const legend = (label, fill) => {
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    for (const [k, v] of [["cx", "5"], ["cy", "5"], ["r", "5"], ["fill", fill]]) circle.setAttribute(k, v);
    dot.setAttribute("viewBox", "0 0 10 10");
    dot.append(circle);
    const item = element("li");
    item.append(dot, element("span", label));
    byId("legend").append(item);
  };
  types.slice(0, palette.length).forEach((t) => legend((t || "no type") + " (" + counts.get(t) + ")", color(t)));
  if (types.length > palette.length) legend("other types", otherColor);

  byId("title").textContent = plain(view.title);
  byId("notes").textContent = plain(["Showing " + outOf(view.nodes.length, view.all_nodes, "entity", "entities") + " and " +
    outOf(view.edges.length, view.all_edges, "relation", "relations") + ".", ...some(view.notes)].join(" "));
  const options = document.createDocumentFragment();
  for (const n of view.nodes) { const o = document.createElement("option"); o.value = plain(n.name); options.append(o); }
  byId("names").append(options);

  // Elements are called n0, n1, ... and e0, e1, ...: names are no part of any selector.
  const at = new Map(view.nodes.map((n, i) => [n.name, "n" + i]));
  const elements = view.nodes.map((n, i) => ({
    data: { id: "n" + i, label: short(n.name), color: color(n.type), size: 12 + 7 * Math.sqrt(Math.min(n.degree, 200)), of: n },
    position: view.places[i],
  })).concat(view.edges.map((e, i) => ({
    data: { id: "e" + i, source: at.get(e.source), target: at.get(e.target), width: 1 + Math.min(4, Math.log2(1 + Math.max(0, e.weight))), of: e },
  })));
  const cy = cytoscape({
    container: byId("picture"),
    elements,
    minZoom: 0.02, maxZoom: 4,
    hideEdgesOnViewport: view.edges.length > 3000, textureOnViewport: view.nodes.length > 500,
    style: [
      { selector: "node", style: { "background-color": "data(color)", width: "data(size)", height: "data(size)" } },
      { selector: "node.named", style: { label: "data(label)", "font-size": 11, color: "#1c2733", "text-outline-color": "#fff", "text-outline-width": 2, "text-valign": "bottom", "text-margin-y": 3 } },
      { selector: "edge", style: { width: "data(width)", "line-color": "#b9c4ce", "curve-style": "haystack", "haystack-radius": 0, opacity: 0.7 } },
      { selector: ".far", style: { opacity: 0.15, "text-opacity": 0.15 } },
      { selector: "node.chosen", style: { "border-width": 4, "border-color": "#1c2733" } },
      { selector: "edge.chosen", style: { "line-color": "#1c2733", opacity: 1 } },
    ],
    layout: { name: "preset", fit: true, padding: 30 },
  });

  // Names as large on the screen from however far one looks, of the nodes around what is chosen first, then of the best
  // connected ones, as long as none covers another.
  const fontSize = 11, lineHeight = 15, mostNames = 300;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = fontSize + "px sans-serif";
  const nodes = cy.nodes().toArray().sort((a, b) => b.data("of").degree - a.data("of").degree);
  const widths = new Map(nodes.map((n) => [n.id(), pen.measureText(n.data("label")).width + 6]));
  const showNames = () => {
    const zoom = cy.zoom(), scale = Math.max(1, zoom), seen = cy.extent();
    const taken = new Map(); // by line: the stretches that names cover
    let count = 0;
    const fits = (n) => {
      const p = n.position(), half = widths.get(n.id()) * scale / 2;
      if (count >= mostNames || p.x < seen.x1 || p.x > seen.x2 || p.y < seen.y1 || p.y > seen.y2) return false;
      const x = p.x * zoom, top = (p.y + n.data("size") / 2) * zoom, line = Math.floor(top / (lineHeight * scale));
      for (const l of [line - 1, line, line + 1]) {
        for (const o of taken.get(l) || []) {
          if (Math.abs(o.x - x) < o.half + half && Math.abs(o.top - top) < lineHeight * scale) return false;
        }
      }
      taken.set(line, (taken.get(line) || []).concat({ x, top, half }));
      count++;
      return true;
    };
    cy.batch(() => {
      for (const far of [false, true]) {
        for (const n of nodes) {
          if (n.hasClass("far") !== far) continue;
          const named = fits(n);
          n.toggleClass("named", named);
          if (named) n.style("font-size", fontSize * scale / zoom);
        }
      }
    });
  };
  let waiting = 0;
  const showNamesSoon = () => { clearTimeout(waiting); waiting = setTimeout(showNames, 60); };
  cy.on("viewport resize", showNamesSoon);
  cy.on("free", "node", showNamesSoon); // a node that was moved

  const details = byId("details");
  const list = (title, items, more) => {
    if (items.length === 0) return;
    details.append(element("h3", title));
    const ul = element("ul");
    for (const item of items) { const li = element("li"); li.append(item); ul.append(li); }
    details.append(ul);
    if (more > 0) details.append(element("p", "and " + figure(more) + " more", "kind"));
  };
  const link = (target, text) => {
    const a = element("a", text);
    a.href = "#";
    a.addEventListener("click", (ev) => { ev.preventDefault(); choose(target, true); });
    return a;
  };
  const sources = (of) => {
    list("Documents", some(of.documents).map((d) => element("span", d)), 0);
    list("Chunks", some(of.chunks).map((c) => element("span", c)), of.chunk_count - some(of.chunks).length);
  };
  const choose = (target, jump) => {
    cy.elements().removeClass("chosen far");
    details.replaceChildren();
    showNamesSoon();
    if (!target) { details.append(element("p", "Click a node or an edge to see what is known of it, and from where.", "kind")); return; }
    target.addClass("chosen");
    const near = target.isNode() ? target.closedNeighborhood() : target.union(target.connectedNodes());
    cy.elements().not(near).addClass("far");
    const of = target.data("of");
    if (target.isNode()) {
      details.append(element("h2", of.name), element("p", (of.type || "no type") + ", " + counted(of.degree, "relation", "relations"), "kind"));
      for (const t of some(of.texts)) details.append(element("p", t));
      sources(of);
      const edges = target.connectedEdges().toArray().sort((a, b) => b.data("of").weight - a.data("of").weight);
      list("Relations shown", edges.map((e) => {
        const span = element("span"), other = e.data("of").source === of.name ? e.data("of").target : e.data("of").source;
        span.append(link(cy.getElementById(at.get(other)), other), " (", link(e, some(e.data("of").keywords).slice(0, 3).join(", ") || "relation"), ")");
        return span;
      }), 0);
    } else {
      const ends = element("h2");
      ends.append(link(target.source(), of.source), " – ", link(target.target(), of.target));
      details.append(ends, element("p", ["weight " + of.weight, ...some(of.keywords)].join(", "), "kind"));
      for (const t of some(of.texts)) details.append(element("p", t));
      sources(of);
    }
    details.scrollTop = 0;
    if (jump) cy.stop().animate({ center: { eles: target }, zoom: Math.max(cy.zoom(), 1) }, { duration: 250 });
  };
  cy.on("tap", (ev) => choose(ev.target === cy ? null : ev.target, false));

  // Search: names that are the text, then that begin with it, then that hold it; Enter goes on to the next.
  const fold = (s) => s.normalize("NFKC").toLowerCase();
  const folded = view.nodes.map((n) => fold(plain(n.name)));
  let hits = [], next = 0;
  const search = (text) => {
    const q = fold(text.trim());
    const rank = (i) => folded[i] === q ? 0 : folded[i].startsWith(q) ? 1 : 2;
    hits = q === "" ? [] : folded.map((_, i) => i).filter((i) => folded[i].includes(q)).sort((a, b) => rank(a) - rank(b) || a - b);
    next = 0;
    byId("found").textContent = q === "" ? "" : hits.length === 0 ? "not in the picture" : "";
    step();
  };
  const step = () => {
    if (hits.length === 0) return;
    byId("found").textContent = (next + 1) + " of " + hits.length;
    choose(cy.getElementById("n" + hits[next]), true);
    next = (next + 1) % hits.length;
  };
  byId("query").addEventListener("input", (ev) => search(ev.target.value));
  byId("search").addEventListener("submit", (ev) => { ev.preventDefault(); step(); });
  byId("fit").addEventListener("click", () => { cy.stop(); cy.fit(undefined, 30); });
  choose(view.start ? cy.getElementById(at.get(view.start)) : null, false);
})();
