// The page of a training run: its curves as drawings, its memory and its warnings.

const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const isPlain = (size) => size === 0 || (size >= 1e-3 && size < 1e7);
const figure = (value) => value === null ? "none" : isPlain(Math.abs(value)) ? number.format(value) : value.toExponential(2);
const count = (value) => value.toLocaleString("en");
const plural = (value, unit) => `${count(value)} ${unit}${value === 1 ? "" : "s"}`;

/** "12.3 MiB". */
function bytes(value) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), units.length - 1);
  return power ? `${(value / 1024 ** power).toFixed(1)} ${units[power]}` : `${value} bytes`;
}

/** "2 h 5 min". */
function duration(seconds) {
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (days) return `${days} d ${hours % 24} h`;
  if (hours) return `${hours} h ${minutes % 60} min`;
  return minutes ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
}

const clock = (time) => new Date(time * 1000).toLocaleString();

/** Round numbers between two others, about `most` of them. */
function ticksOf(low, high, most) {
  const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; ++i) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/** A line over steps, and dots: both are lists of [step, value]. */
class Curve {
  constructor(box, { label, line, dots = [] }) {
    Object.assign(this, { box, label, line, dots, left: 62, right: 10, above: 8, below: 24, height: 220 });
    this.known = [...line, ...dots].filter(([, value]) => value !== null);
    new ResizeObserver(() => this.draw()).observe(box);
    box.addEventListener("pointermove", (event) => this.point(event));
    box.addEventListener("pointerleave", () => { tip.hidden = true; });
  }

  scaleTo(width) {
    const values = this.known.map(([, value]) => value), steps = this.known.map(([step]) => step);
    const low = Math.min(...values), high = Math.max(...values), room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
    Object.assign(this, { width, low: low - room, high: high + room, first: Math.min(...steps), last: Math.max(...steps) });
  }

  x(step) { return this.left + (step - this.first) / (this.last - this.first || 1) * (this.width - this.left - this.right); }
  y(value) { return this.above + (this.high - value) / (this.high - this.low) * (this.height - this.above - this.below); }

  /** The line, apart where a value is missing. */
  path() {
    let pen = "M";
    return this.line.map(([step, value]) => {
      const part = value === null ? "" : `${pen}${this.x(step).toFixed(1)} ${this.y(value).toFixed(1)}`;
      pen = value === null ? "M" : "L";
      return part;
    }).join("");
  }

  draw() {
    this.scaleTo(this.box.clientWidth);
    const bottom = this.height - this.below;
    const across = ticksOf(this.first, this.last, this.width / 110).filter(Number.isInteger).map((step) =>
      shape("text", { class: "tick", x: this.x(step), y: this.height - 6, "text-anchor": "middle" }, count(step)));
    const up = ticksOf(this.low, this.high, 5).flatMap((value) => [
      shape("line", { class: "grid", x1: this.left, x2: this.width - this.right, y1: this.y(value), y2: this.y(value) }),
      shape("text", { class: "tick", x: this.left - 8, y: this.y(value) + 4, "text-anchor": "end" }, figure(value))]);
    const dots = this.dots.filter(([, value]) => value !== null).map(([step, value]) =>
      shape("circle", { class: "dot", cx: this.x(step), cy: this.y(value), r: 3.5 }));
    this.mark = shape("circle", { class: "mark", r: 3.5, visibility: "hidden" });
    this.box.replaceChildren(shape("svg", { class: "curve", viewBox: `0 0 ${this.width} ${this.height}`, role: "img",
      "aria-label": this.label, height: this.height }, ...up, ...across,
      shape("line", { class: "grid", x1: this.left, x2: this.width - this.right, y1: bottom, y2: bottom }),
      shape("path", { class: "line", d: this.path() }), ...dots, this.mark));
  }

  /** Says the value next to the pointer. */
  point(event) {
    const at = event.clientX - this.box.getBoundingClientRect().left;
    const distance = ([step]) => Math.abs(this.x(step) - at);
    const near = this.known.reduce((best, each) => distance(each) < distance(best) ? each : best);
    this.mark.setAttribute("cx", this.x(near[0]));
    this.mark.setAttribute("cy", this.y(near[1]));
    this.mark.setAttribute("visibility", "visible");
    tip.hidden = false;
    tip.textContent = `step ${count(near[0])}: ${figure(near[1])}`;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 14}px`;
  }
}

/** The section of a figure; none before the first step. */
function curve(name, title, note, dots) {
  const at = data.names.indexOf(name);
  const line = at < 0 ? [] : data.points.map(([step, ...values]) => [step, values[at]]);
  if (![...line, ...(dots ?? [])].some(([, value]) => value !== null)) return [];
  const box = element("div", "figure");
  new Curve(box, { label: `${title} by step`, line, dots });
  return [{ id: name, title, note, content: [box] }];
}

const endings = { complete: "All steps are done.", signal: "The run was interrupted.", time: "--max-time is over.",
  patience: "The evaluation loss became no better.", failed: "The run has failed." };

const tip = named("tip", element("div", ""));
tip.hidden = true;
const rateName = data.names.find((name) => name.endsWith("_per_second"));
const trained = data.done - data.first, left = trained ? data.seconds / trained * (data.steps - data.done) : null;
const [, ...latest] = data.points.at(-1) ?? [0];
const latestOf = (name) => latest[data.names.indexOf(name)];
const facts = [
  ["steps", `${count(data.done)} of ${count(data.steps)}`],
  ...(data.ending || left === null ? [] : [["time to the end", duration(left)]]),
  ["seconds per step", trained ? figure(data.seconds / trained) : "none yet"],
  ...data.names.map((name) => [name.replaceAll("_", " "), figure(latestOf(name))]),
  ...(data.evaluations.length ? [["evaluation loss", figure(data.evaluations.at(-1)[1])]] : []),
];

const memoryRows = [...data.memory.map(({ tier, peak, at }) => [tier === "nvme" ? "disk, per rank" : `${tier}, per rank`, bytes(peak), `at the peak, ${at}`]),
  ...(data.process_planned ? [["this process, planned", bytes(data.process_planned), ""]] : []),
  ["this process, in use", bytes(data.process_used), data.process_planned ? `${Math.round(100 * data.process_used / data.process_planned)} % of the plan` : ""]];

const windowOf = data.steps_of_point > 1 ? ` A point is the mean of ${data.steps_of_point} steps.` : "";
// An evaluation after k steps is beside step k - 1, the last one that it depends on.
const evaluations = data.evaluations.map(([done, loss]) => [Math.max(done - 1, 0), loss]);
const messages = [...(data.error ? [[data.written, data.error]] : []), ...data.warnings.toReversed()];

writePage({
  title: `${data.done}/${data.steps} ${data.model}`,
  kicker: `${data.model} · ZeRO stage ${data.stage} on ${plural(data.ranks, "rank")}${data.optimizer ? ` · ${data.optimizer}` : ""}`,
  heading: data.ending ? endings[data.ending] : data.done ? `Step ${count(data.done)} of ${count(data.steps)}` : "The run begins",
  lead: data.ending ? `${data.error ? `${data.error}. ` : ""}Written ${clock(data.written)}.${data.resume ? ` It goes on with ${data.resume}.` : ""}` :
    `Written ${clock(data.written)}, and again every ${data.interval} seconds while the run goes on.`,
  facts,
  sections: [
    ...curve("loss", "Loss", `${data.evaluations.length ? "Dots are evaluations." : ""}${windowOf}`.trim(), evaluations),
    ...curve("learning_rate", "Learning rate"),
    ...curve("gradient_norm", "Gradient norm", windowOf.trim()),
    ...curve("loss_scale", "Loss scale"),
    ...(rateName ? curve(rateName, rateName === "tokens_per_second" ? "Tokens per second" : "Samples per second", windowOf.trim()) : []),
    { id: "memory", title: "Memory", note: "What the certificate states, exact to the byte, and what the process needs beside it.",
      content: [scroll(table([["where", ""], ["bytes", "number"], ["", "small"]], memoryRows))] },
    { id: "messages", title: "Errors and warnings", hidden: !messages.length,
      content: [scroll(table([["when", "nowrap"], ["message", "name"]], messages.map(([time, text]) => [clock(time), text])))] },
  ],
});
document.body.append(tip);
if (!data.ending) setTimeout(() => location.reload(), 1000 * data.interval);
