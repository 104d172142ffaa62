// The page of a plan: its head and its sections.

function head() {
  const ranks = plan.ranks === 1 ? "one rank" : `each of ${formatCount(plan.ranks)} ranks`;
  const trains = plan.optimizer !== "";
  const needs = [formatBytes(plan.arena_bytes) + (tiers.length ? " of device memory" : ""),
    ...tiers.map((tier) => `${formatBytes(tier.arena_bytes)} of ${tierNames[tier.name][1]}`)];
  const peak = commands[plan.peak_command];
  const shares = plan.roles.map((role, index) => ({ name: roles[index], bytes: role.at_peak_bytes }))
    .filter((role) => role.bytes).sort((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes }) => `${formatShare(bytes, plan.lower_bound_bytes)} ${name === "working" ? "working memory" : name}`);
  const slack = plan.arena_bytes - plan.lower_bound_bytes;
  const packing = slack ? `The live bytes at the peak are ${formatBytes(plan.lower_bound_bytes)}: the arena is ${(100 * (plan.ratio - 1)).toFixed(2)} % larger than this lower bound.`
    : "The arena is as large as the live bytes at the peak: it is minimal.";
  const place = peak.part === "epilogue" ? "the update" : `the ${placeOf(peak)}`;
  return {
    title: `${plan.model}: ${formatBytes(plan.arena_bytes)} per rank`,
    kicker: `${plan.model} · ZeRO stage ${plan.stage}`,
    heading: `${trains ? "A training step" : "A forward pass"} needs ${listed(needs)} on ${ranks}.`,
    lead: `${tiers.length ? "The device's" : "The"} peak is in ${place}, at ${commandName(plan.peak_command)}. Live at the peak: ${listed(shares)}. ${packing}`,
  };
}

function facts() {
  const trained = plan.trained_parameters;
  return [["arena", `${formatCount(plan.arena_bytes)} bytes`], ["peak of live bytes", `${formatCount(plan.lower_bound_bytes)} bytes`],
    ["parameters", formatShort(plan.parameters) + (trained === plan.parameters ? "" : `, ${formatShort(trained)} trained`)],
    ["stored as", plan.precision], ["ranks", formatCount(plan.ranks)], ["ZeRO stage", `${plan.stage}`],
    ["micro-batches", formatCount(plan.micro_batches)], ["gradients summed in", plan.gradient_sums], ["model state by the ZeRO formula", formatBytes(plan.state_bytes)],
    ...tiers.map((tier) => [tierNames[tier.name][0].toLowerCase(), `${formatCount(tier.arena_bytes)} bytes`]),
    ["written to disk per step", plan.moved?.nvme_written && formatBytes(plan.moved.nvme_written)],
    ["optimizer", plan.optimizer, "wide"]].filter(([, value]) => value);
}

/** The box of a chart, which `draw` draws on its canvas. */
function figure(label, draw, id = "") {
  const canvas = element("canvas"), box = element("div", "figure", canvas);
  if (id) named(id, canvas);
  Object.assign(canvas, { tabIndex: 0, role: "img", ariaLabel: label });
  canvas.setAttribute("aria-describedby", "keys");
  draw(canvas);
  return box;
}

function wholeButton() {
  const button = element("button", "whole", "Whole step");
  return Object.assign(button, { type: "button", hidden: true, onclick: () => view.zoom(0, commands.length) });
}

/** "; the peak is 3.2 MiB at node_addmm_1 (gemm)". */
const peakOf = (tier) => `; the peak is ${formatBytes(tier.lower_bound_bytes)} at ${commandName(tier.peak_command)}`;

function stepSection() {
  const details = named("step-details", element("details", "", element("summary", "", "The step as a table")));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(scroll(stepTable()));
  });
  return {
    id: "step", title: tiers.length ? "Device memory over the step" : "Memory over the step", aside: wholeButton(),
    note: `The x axis has the ${formatCount(commands.length)} commands of a step, the y axis the live bytes. ` +
      "Below are the part of the step and the part of the model.",
    content: [figure(`Live bytes over the step, stacked by role${peakOf(plan)}. The tables below have the numbers.`,
      (canvas) => new StepChart(canvas, 360, device), "step-chart"), roleTable(plan), details],
  };
}

/** Parameters, sums of gradients and optimizer state by the type that they are stored in. */
const storedSection = () => ({
  id: "stored", title: "Stored types", hidden: !plan.stored.length,
  note: `What each rank stores throughout the step${tiers.length ? ", on all tiers" : ""}. Blocks are counted with their scales.`,
  content: [named("stored-types", scroll(storedTable()))],
});

/** The live bytes of each other tier over the step by role. */
function tiersSection() {
  const tierContent = (tier) => {
    const [name] = tierNames[tier.name];
    return [element("h3", "", `${name}: ${formatBytes(tier.arena_bytes)}`),
      figure(`${name}: live bytes over the step, stacked by role${peakOf(tier)}. The table below has the numbers.`,
        (canvas) => new StepChart(canvas, 200, memoryOf(tier))),
      roleTable(tier, stack.filter((role) => tier.roles[role].most_bytes))];
  };
  return {
    id: "tiers", title: "Other tiers", hidden: !tiers.length,
    note: "What each rank stores on other tiers, over the same commands. Bytes in transit count on both tiers; " +
      "bytes that pass through the host are working memory there.",
    content: tiers.length ? [...tiers.flatMap(tierContent), element("h3", "", "Transfers between tiers"),
      named("transfers", scroll(transferTable(plan.moved)))] : [],
  };
}

/** The drives of a node of the machine that was planned for. */
function drivesSection() {
  const { drives } = plan;
  return {
    id: "drives", title: "Drives", hidden: !drives,
    note: drives && "What all ranks of a node read and write together. " +
      (drives.step_seconds ? `A step is simulated to take ${Number(drives.step_seconds.toPrecision(4))} s.` : ""),
    content: drives ? [named("drives", scroll(drivesTable(drives)))] : [],
  };
}

function peakSection() {
  const peak = plan.peak_command;
  const there = plan.tensors.filter((tensor) => tensor.begin <= peak && peak <= tensor.end).sort((a, b) => b.bytes - a.bytes);
  return {
    id: "peak", title: `Live tensors at the peak${tiers.length ? " of the device" : ""}`,
    note: `${formatCount(there.length)} tensors at ${commandName(peak)}, ${placeOf(commands[peak])}: ` +
      `${formatBytes(plan.lower_bound_bytes)} in total, the largest first.`,
    content: tensorTable(there, 12),
  };
}

/** What the pointer and keys do in charts. */
function keysNote() {
  const text = "Drag to zoom into a part of the step, double-click to show the whole step. Keys: [←] [→] select a command, " +
    "[P] selects the peak, in this map [↑] [↓] select a tensor, [+] [−] zoom in and out, [0] shows all.";
  return named("keys", element("p", "note", ...text.split(/[[\]]/).map((part, i) => i % 2 ? element("kbd", "", part) : part)));
}

function arenaSection() {
  const merged = plan.tensors_left_out ? ` ${formatCount(plan.tensors_left_out)} more of at most ` +
    `${formatBytes(plan.left_out_bytes_at_most)} are omitted here; they are counted above.` : "";
  return {
    id: "arena", title: `The ${tiers.length ? "device " : ""}arena over the step`, aside: wholeButton(),
    note: `One block of ${formatBytes(plan.arena_bytes)}, in which ${formatCount(plan.tensors.length)} tensors have fixed offsets. ` +
      `The width of a rectangle is the lifetime of a tensor, its height the size in bytes.${merged}`,
    content: [figure(`Map of the arena: ${formatCount(plan.tensors.length)} tensors by offset and time. Use the arrow keys to hear each.`,
      (canvas) => new ArenaChart(canvas, 480, plan.arena_bytes), "arena-chart"), keysNote()],
  };
}

function largestSection() {
  const largest = [...plan.tensors].sort((a, b) => b.bytes - a.bytes).slice(0, 10);
  return { id: "largest", title: "The largest tensors", content: tensorTable(largest, 10) };
}

function volumeSection() {
  const { volume, mesh } = plan;
  const content = [];
  const axes = ["context", "tensor"].filter((axis) => plan[`${axis}_volume`]);
  if (volume) {
    const groups = axes.includes("context") ? "Along data and context, each rank" : "Along data, each rank";
    content.push(receivedNote(axes.length ? groups : "Each rank", volume.received), volumeTable(volume));
  }
  for (const axis of axes) {
    const { total } = plan[`${axis}_volume`];
    content.push(receivedNote(`Along ${axis}, each rank`, Math.floor(total / mesh[axis]) * (mesh[axis] - 1)),
      axisVolumeTable(plan[`${axis}_volume`]));
  }
  return { id: "volume", title: "Communication between ranks", hidden: !content.length, content: [named("volume", scroll(...content))] };
}

const ownersSection = () =>
  ({ id: "owners", title: "Owners of updates", hidden: !plan.owners, content: plan.owners ? [named("owners", ownersTable(plan.owners))] : [] });

const decisionsSection = () =>
  ({ id: "decisions", title: "Decisions", hidden: !plan.decisions.length, content: decisionLists() });

writePage({
  ...head(), facts: facts(),
  sections: [stepSection(), storedSection(), tiersSection(), drivesSection(), peakSection(), arenaSection(), largestSection(), volumeSection(), ownersSection(), decisionsSection()],
  footer: "Written by zeroc before the step runs. The numbers are those of the certificate. This page contains them as JSON.",
});
