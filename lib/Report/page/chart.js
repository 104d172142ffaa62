// Two charts over one axis, the commands of the step. Both are drawn pixel by pixel: the cost of
// a chart depends on its pixels, not on the number of commands and tensors.

/** The state of both charts: commands [first, last), one under the cursor, one tensor. */
const view = {
  first: 0, last: commands.length, command: -1, tensor: null, charts: [],
  isWhole() { return this.first === 0 && this.last === commands.length; },
  zoom(first, last) {
    const length = Math.min(commands.length, Math.max(8, Math.round(last - first)));
    this.first = Math.max(0, Math.min(Math.round(first), commands.length - length));
    this.last = this.first + length;
    document.querySelectorAll(".whole").forEach((button) => { button.hidden = this.isWhole(); });
    this.charts.forEach((chart) => chart.paint());
  },
  point(command, tensor) {
    this.command = command;
    this.tensor = tensor;
    this.charts.forEach((chart) => chart.overlay());
  },
};

/** Maximal runs of commands with equal `key`. */
function runsOf(key) {
  const runs = [];
  commands.forEach((command, index) => {
    const text = key(command);
    if (runs.length && runs.at(-1).text === text) runs.at(-1).end = index + 1;
    else runs.push({ begin: index, end: index + 1, text });
  });
  return runs;
}
const partRuns = runsOf((command) => command.part);
const scopeRuns = runsOf((command) => command.scope);

/** About `count` round numbers of bytes up to `most`, in one unit: [bytes, text]. */
function byteTicks(most, count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const exponent = Math.min(5, Math.floor(Math.log(Math.max(most, 1)) / Math.log(1024)));
  const unit = 1024 ** exponent;
  const raw = Math.max(most, 1) / unit / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw) * power;
  const ticks = [];
  for (let i = 0; i * step * unit <= most; ++i)
    ticks.push([i * step * unit, i ? `${Number((i * step).toPrecision(6))} ${units[exponent]}` : "0"]);
  return ticks;
}

/** The names of a scope in a strip, the best first: "h.0" of "model.h.0". */
function scopeTexts(scope) {
  const words = scope.split("."), last = words.at(-1);
  return [/^\d+$/.test(last) ? words.slice(-2).join(".") : shortScope(scope), last];
}

/** The name of several scopes in a strip, from the first to the last: "h.0 to 5". */
function scopeRange(first, last) {
  const begin = first.split("."), end = last.split("."), number = /^\d+$/;
  const isRange = begin.length === end.length && number.test(begin.at(-1)) && number.test(end.at(-1)) &&
    begin.slice(0, -1).join(".") === end.slice(0, -1).join(".");
  return isRange ? `${begin.slice(-2).join(".")} to ${end.at(-1)}` : "";
}

/** Axes, cursor, zoom and keys; subclasses draw the content. */
class Chart {
  constructor(canvas, height, top) {
    Object.assign(this, { canvas, height, top, left: 62, right: 6, above: 10, below: 44, anchor: null });
    canvas.style.height = `${height}px`; // before it is drawn: what follows stays where it is
    this.picture = document.createElement("canvas");
    view.charts.push(this);
    new ResizeObserver(() => this.paint()).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    canvas.addEventListener("pointerdown", (event) => { this.anchor = event.offsetX; });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", () => this.leave());
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", () => view.zoom(0, commands.length));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.leave());
  }

  get plotWidth() { return this.width - this.left - this.right; }
  get plotHeight() { return this.height - this.above - this.below; }
  x(command) { return this.left + (command - view.first) / (view.last - view.first) * this.plotWidth; }
  y(bytes) { return this.above + (1 - bytes / this.top) * this.plotHeight; }
  commandAt(x) {
    const command = Math.floor(view.first + (x - this.left) / this.plotWidth * (view.last - view.first));
    return Math.max(view.first, Math.min(view.last - 1, command));
  }
  bytesAt(y) { return (1 - (y - this.above) / this.plotHeight) * this.top; }

  /** Draws all but the cursor into an image, which is only copied when the cursor moves. */
  paint() {
    this.width = this.canvas.parentElement.clientWidth;
    this.scale = window.devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.picture]) {
      canvas.width = Math.round(this.width * this.scale);
      canvas.height = Math.round(this.height * this.scale);
    }
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colors = { ink: color("ink"), muted: color("muted"), line: color("line"), ground: color("ground"),
      panel: color("panel"), accent: color("accent"), roles: roles.map((_, role) => color(`role-${role}`)) };
    const g = this.picture.getContext("2d");
    g.scale(this.scale, this.scale);
    g.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    g.textBaseline = "middle";
    this.drawGrid(g);
    g.save();
    g.beginPath();
    g.rect(this.left, 0, this.plotWidth, this.height - this.below);
    g.clip();
    this.draw(g);
    g.restore();
    this.drawStrip(g, partRuns, this.height - this.below + 4, (text) => [text]);
    this.drawStrip(g, scopeRuns, this.height - this.below + 23, scopeTexts, scopeRange);
    this.overlay();
  }

  drawGrid(g) {
    g.textAlign = "right";
    for (const [bytes, text] of byteTicks(this.top, this.plotHeight / 55)) {
      const y = Math.round(this.y(bytes)) + 0.5;
      g.fillStyle = this.colors.line;
      g.fillRect(this.left, y - 0.5, this.plotWidth, 1);
      g.fillStyle = this.colors.muted;
      g.fillText(text, this.left - 8, y);
    }
  }

  /** A row of runs in two alternating tones, each with the longest of its texts that fits. Where
   * none fits, `rangeOf` names as many runs together as it takes. */
  drawStrip(g, runs, top, textsOf, rangeOf = () => "") {
    g.textAlign = "center";
    let turn = 0, group = null;
    const write = (text, x0, x1) => {
      const fits = text && g.measureText(text).width < x1 - x0 - 6;
      if (fits) g.fillText(text, (x0 + x1) / 2, top + 8.5);
      return fits;
    };
    for (const { begin, end, text } of runs) {
      if (text) turn ^= 1;
      const x0 = Math.max(this.left, this.x(begin)), x1 = Math.min(this.width - this.right, this.x(end));
      if (!text || x1 - x0 < 0.5) continue;
      g.globalAlpha = turn ? 1 : 0.45;
      g.fillStyle = this.colors.line;
      g.fillRect(x0, top, Math.max(0.5, x1 - x0 - 1), 16);
      g.globalAlpha = 1;
      g.fillStyle = this.colors.ink;
      if (textsOf(text).some((each) => write(each, x0, x1))) {
        group = null;
        continue;
      }
      if (!group || !rangeOf(group.text, text)) group = { text, x0 };
      else if (write(rangeOf(group.text, text), group.x0, x1)) group = null;
    }
  }

  /** The image, the cursor, and the selection in progress. */
  overlay() {
    if (!this.width) return;
    const g = this.canvas.getContext("2d");
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    g.drawImage(this.picture, 0, 0);
    g.scale(this.scale, this.scale);
    const bottom = this.height - this.below;
    if (view.command >= view.first && view.command < view.last) {
      g.fillStyle = this.colors.ink;
      g.globalAlpha = 0.75;
      g.fillRect(Math.round(this.x(view.command + 0.5)), this.above, 1, bottom - this.above);
      g.globalAlpha = 1;
    }
    this.mark(g);
    if (this.chosen) {
      g.fillStyle = this.colors.accent;
      g.globalAlpha = 0.22;
      g.fillRect(this.chosen[0], this.above, this.chosen[1] - this.chosen[0], bottom - this.above);
      g.globalAlpha = 1;
    }
  }

  move(event) {
    const { offsetX: x, offsetY: y } = event;
    if (this.anchor !== null && event.buttons && Math.abs(x - this.anchor) > 4)
      this.chosen = [Math.min(x, this.anchor), Math.max(x, this.anchor)];
    const command = this.commandAt(x);
    view.point(command, this.tensorAt(x, y));
    showTip(this.tip(), event.clientX, event.clientY);
  }

  release() {
    const chosen = this.chosen;
    this.chosen = this.anchor = null;
    if (chosen) view.zoom(this.commandAt(chosen[0]), this.commandAt(chosen[1]) + 1);
    else view.charts.forEach((chart) => chart.overlay());
  }

  leave() {
    this.chosen = this.anchor = null;
    view.point(-1, null);
    hideTip();
  }

  key(event) {
    const length = view.last - view.first;
    const at = view.command < 0 ? this.peak : view.command;
    const step = event.shiftKey ? 10 : 1;
    const goTo = (command) => {
      const target = Math.max(0, Math.min(commands.length - 1, command));
      if (target < view.first || target >= view.last) view.zoom(target - length / 2, target + length / 2);
      view.point(target, this.tensorNear(target, 0));
    };
    const actions = {
      ArrowLeft: () => goTo(at - step), ArrowRight: () => goTo(at + step), Home: () => goTo(0),
      End: () => goTo(commands.length - 1), p: () => goTo(this.peak),
      ArrowUp: () => view.point(at, this.tensorNear(at, 1)), ArrowDown: () => view.point(at, this.tensorNear(at, -1)),
      "+": () => view.zoom(at - length / 4, at + length / 4), "-": () => view.zoom(at - length, at + length),
      0: () => view.zoom(0, commands.length), Escape: () => view.zoom(0, commands.length),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
    if (view.command < 0) return;
    const box = this.canvas.getBoundingClientRect();
    showTip(this.tip(), box.left + this.x(view.command + 0.5), box.top + (this.tipY?.() ?? this.above + 20));
    spoken.textContent = tip.innerText;
  }

  get peak() { return plan.peak_command; }
  tensorAt() { return null; }
  tensorNear() { return null; }
  mark() {}
}

/** Live bytes of a tier, stacked by role. A pixel shows the maximum over its commands. */
class StepChart extends Chart {
  constructor(canvas, height, memory) {
    super(canvas, height, memory.tier.lower_bound_bytes * 1.08);
    this.memory = memory;
  }

  get peak() { return this.memory.tier.peak_command; }

  draw(g) {
    const { live, total } = this.memory;
    const pixel = 1 / this.scale;
    for (let x = this.left; x < this.left + this.plotWidth; x += pixel) {
      let command = this.commandAt(x);
      for (let c = command + 1, end = this.commandAt(x + pixel); c < end; ++c)
        if (total[c] > total[command]) command = c;
      let below = 0;
      for (const role of stack) {
        const bytes = live[role][command];
        if (!bytes) continue;
        g.fillStyle = this.colors.roles[role];
        const y = this.y(below + bytes);
        g.fillRect(x, y, pixel, this.y(below) - y);
        below += bytes;
      }
    }
    this.drawPeak(g);
  }

  drawPeak(g) {
    const most = this.memory.tier.lower_bound_bytes;
    const x = this.x(this.peak + 0.5), y = this.y(most);
    if (x < this.left || x > this.width - this.right) return;
    g.strokeStyle = g.fillStyle = this.colors.ink;
    g.setLineDash([3, 3]);
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x, this.height - this.below);
    g.stroke();
    g.setLineDash([]);
    g.beginPath();
    g.arc(x, y, 3.5, 0, 7);
    g.fill();
    const text = `peak ${formatBytes(most)}`;
    const isLeft = x + g.measureText(text).width + 16 > this.width - this.right;
    g.textAlign = isLeft ? "right" : "left";
    g.font = `600 ${g.font}`;
    g.fillText(text, x + (isLeft ? -9 : 9), y - 9);
  }

  tip() {
    const { live, total } = this.memory, command = view.command;
    const rows = [...stack].reverse().filter((role) => live[role][command]).map((role) =>
      element("div", "", element("span", "", chip(role), roles[role]), element("span", "", formatBytes(live[role][command]))));
    return [...commandTip(command), ...rows,
      element("div", "", element("b", "", "together"), element("span", "", formatBytes(total[command])))];
  }
}

/** Each tensor is a rectangle: x is the commands, y the bytes of the arena. */
class ArenaChart extends Chart {
  box(tensor) {
    const x = this.x(tensor.begin), y = this.y(tensor.offset + tensor.bytes), pixel = 1 / this.scale;
    return [x, y, Math.max(pixel, this.x(tensor.end + 1) - x), Math.max(pixel, this.y(tensor.offset) - y)];
  }

  draw(g) {
    g.lineWidth = 0.75;
    g.strokeStyle = this.colors.ground;
    for (const tensor of plan.tensors) {
      if (tensor.end < view.first || tensor.begin >= view.last) continue;
      const [x, y, width, height] = this.box(tensor);
      g.fillStyle = this.colors.roles[tensor.role];
      g.fillRect(x, y, width, height);
      if (width > 3 && height > 3) g.strokeRect(x, y, width, height);
    }
  }

  mark(g) {
    if (!view.tensor) return;
    g.save();
    g.beginPath();
    g.rect(this.left, 0, this.plotWidth, this.height - this.below);
    g.clip();
    g.strokeStyle = this.colors.ink;
    g.lineWidth = 2;
    g.strokeRect(...this.box(view.tensor));
    g.restore();
  }

  /** The tensor under a point, or the nearest within three pixels. */
  tensorAt(x, y) {
    let best = null, nearest = 3;
    for (const tensor of plan.tensors) {
      const [left, top, width, height] = this.box(tensor);
      const distance = Math.max(left - x, x - left - width, top - y, y - top - height, 0);
      if (distance < nearest || (distance === 0 && nearest === 0)) [best, nearest] = [tensor, distance];
    }
    return best;
  }

  /** The tensor that is `by` steps above the selected one, of those live at a command. */
  tensorNear(command, by) {
    const there = plan.tensors.filter((tensor) => tensor.begin <= command && command <= tensor.end)
      .sort((a, b) => a.offset - b.offset);
    const at = there.indexOf(view.tensor);
    return there[at < 0 ? there.length - 1 : Math.max(0, Math.min(there.length - 1, at + by))] ?? null;
  }

  tipY() {
    return view.tensor ? this.y(view.tensor.offset + view.tensor.bytes / 2) : this.above + 20;
  }

  tip() {
    const tensor = view.tensor;
    if (!tensor) return commandTip(view.command);
    const row = (name, value) => element("div", "", element("span", "", name), element("span", "", value));
    return [element("b", "", chip(tensor.role), tensorName(tensor)),
      element("p", "", [roles[tensor.role], tensor.type, shortScope(tensor.scope)].filter(Boolean).join(" · ")),
      row("bytes", `${formatBytes(tensor.bytes)} at ${formatBytes(tensor.offset)}`),
      element("p", "", `computed: ${madeAt(tensor)}`), element("p", "", `last read: ${lastRead(tensor)}`),
      element("p", "", `live for ${formatCount(tensor.end - tensor.begin + 1)} of ${formatCount(commands.length)} commands`)];
  }
}

/** The first lines of a tip: the command and where it is. */
function commandTip(command) {
  return [element("b", "", commandName(command)),
    element("p", "", `${placeOf(commands[command])}, command ${formatCount(command + 1)} of ${formatCount(commands.length)}`)];
}

const tip = named("tip", element("div"));
const spoken = named("live", element("div", "hidden"));
tip.hidden = true;
spoken.ariaLive = "polite";
document.body.append(tip, spoken);

function showTip(content, x, y) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, x + 16 + width > innerWidth ? x - width - 16 : x + 16)}px`;
  tip.style.top = `${Math.max(4, Math.min(innerHeight - height - 4, y + 14))}px`;
}

function hideTip() { tip.hidden = true; }
