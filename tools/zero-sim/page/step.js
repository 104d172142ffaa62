// The page of a simulated step: the data are its head and its sections, as tables and a timeline.

/** A bar for each [begin, end, text, whether it recomputes] of a lane, in thousandths of the step. */
function timeline({ lanes, ticks }) {
  const names = 110, scale = 0.99, rowHeight = 26;
  const lane = ({ name, number, bars }, row) => [shape("text", { x: 0, y: row * rowHeight + 14 }, name),
    shape("g", { class: `lane-${number}` }, ...bars.map(([begin, end, text, recomputes]) =>
      shape("rect", { x: names + begin * scale, y: row * rowHeight, height: 18, width: Math.max((end - begin) * scale, 0.3),
        ...(recomputes && { class: "again" }) }, shape("title", {}, text))))];
  const bottom = lanes.length * rowHeight + 14;
  const tick = (text, i) => shape("text", { class: "tick", x: names + i * 1000 * scale / (ticks.length - 1), y: bottom,
    "text-anchor": i === 0 ? "start" : i === ticks.length - 1 ? "end" : "middle" }, text);
  return shape("svg", { class: "timeline", viewBox: `0 0 1100 ${bottom + 6}`, role: "img",
    "aria-label": "What each lane does over the step" }, ...lanes.flatMap(lane), ...ticks.map(tick));
}

/** A table whose first column has names and whose others have numbers. */
const numbers = ([titles, ...rows]) => table(titles.map((title, i) => [title, i ? "number" : ""]), rows);

writePage({ ...data, sections: data.sections.map(({ drawing, rows, ...rest }) =>
  ({ ...rest, content: [scroll(drawing ? timeline(drawing) : numbers(rows))] })) });
