"use strict";
// Writes a page: its head, sections and tables. A client follows, which calls writePage. Names come
// from an untrusted model: they are only inserted into the page as text.

const data = JSON.parse(document.getElementById("data").textContent);

/** An element with text; `content` is text or elements. */
function element(tag, className, ...content) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...content);
  return node;
}

/** An element of a drawing. */
function shape(tag, attributes, ...content) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...content);
  return node;
}

/** Gives `node` a name, for links, style and other elements. */
const named = (id, node) => Object.assign(node, { id });

/** A table of cells, which are text or elements; columns are [title, class]. */
function table(columns, rows) {
  const head = element("tr", "", ...columns.map(([title, className]) => {
    const cell = element("th", className, title);
    cell.scope = "col";
    return cell;
  }));
  const body = rows.map((cells) => element("tr", "", ...cells.map((cell, i) => element("td", columns[i][1], cell))));
  return element("table", "", element("thead", "", head), element("tbody", "", ...body));
}

/** A box as wide as the page, in which wider content scrolls. */
const scroll = (...content) => element("div", "scroll", ...content);

/** A section; `aside` is an element beside its title. */
function section({ id, title, aside, note, content, hidden = false }) {
  const heading = named(`${id}-title`, element("h2", "", title));
  const node = element("section", "", aside ? element("div", "head", heading, aside) : heading,
    ...(note ? [element("p", "note", note)] : []), ...content);
  node.setAttribute("aria-labelledby", heading.id);
  return Object.assign(named(`${id}-section`, node), { hidden });
}

/** Facts are [name, value, class]. */
function writePage({ title, kicker, heading, lead, facts, sections, footer }) {
  document.title = title;
  const list = element("dl", "facts", ...facts.map(([name, value, className]) =>
    element("div", className, element("dt", "", name), element("dd", "", value))));
  document.querySelector("main").replaceChildren(
    element("header", "", element("p", "kicker", kicker), named("answer", element("h1", "", heading)),
      named("story", element("p", "lead", lead)), list),
    ...sections.map(section), ...(footer ? [element("footer", "", footer)] : []));
}
