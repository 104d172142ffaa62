// Builds the page.

const byId = (id) => document.getElementById(id);
const say = (id, text) => { byId(id).textContent = text; };

function fillHead() {
  const ranks = plan.ranks === 1 ? "one rank" : `each of ${formatCount(plan.ranks)} ranks`;
  const trains = plan.optimizer !== "";
  document.title = `${plan.model}: ${formatBytes(plan.arena_bytes)} per rank`;
  say("model", `${plan.model} · ZeRO stage ${plan.stage}`);
  const needs = [formatBytes(plan.arena_bytes) + (tiers.length ? " of device memory" : ""),
    ...tiers.map((tier) => `${formatBytes(tier.arena_bytes)} of ${tierNames[tier.name][1]}`)];
  say("answer", `${trains ? "A training step" : "A forward pass"} needs ${listed(needs)} on ${ranks}.`);
  const peak = commands[plan.peak_command];
  const shares = plan.roles.map((role, index) => ({ name: roles[index], bytes: role.at_peak_bytes }))
    .filter((role) => role.bytes).sort((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes }) => `${formatShare(bytes, plan.lower_bound_bytes)} ${name === "working" ? "working memory" : name}`);
  const slack = plan.arena_bytes - plan.lower_bound_bytes;
  const packing = slack ? `The live bytes at the peak are ${formatBytes(plan.lower_bound_bytes)}: the arena is ${(100 * (plan.ratio - 1)).toFixed(2)} % larger than this lower bound.`
    : "The arena is as large as the live bytes at the peak: it is minimal.";
  const place = peak.part === "epilogue" ? "the update" : `the ${placeOf(peak)}`;
  say("story", `${tiers.length ? "The device's" : "The"} peak is in ${place}, at ${commandName(plan.peak_command)}. Live at the peak: ${listed(shares)}. ${packing}`);
}

function fillFacts() {
  const trained = plan.trained_parameters;
  const facts = [["arena", `${formatCount(plan.arena_bytes)} bytes`], ["peak of live bytes", `${formatCount(plan.lower_bound_bytes)} bytes`],
    ["parameters", formatShort(plan.parameters) + (trained === plan.parameters ? "" : `, ${formatShort(trained)} trained`)],
    ["stored as", plan.precision], ["ranks", formatCount(plan.ranks)], ["ZeRO stage", `${plan.stage}`],
    ["micro-batches", formatCount(plan.micro_batches)], ["model state by the ZeRO formula", formatBytes(plan.state_bytes)],
    ...tiers.map((tier) => [tierNames[tier.name][0].toLowerCase(), `${formatCount(tier.arena_bytes)} bytes`]),
    ["written to disk per step", plan.moved?.nvme_written && formatBytes(plan.moved.nvme_written)],
    ["optimizer", plan.optimizer, "wide"]];
  byId("facts").append(...facts.filter(([, value]) => value).map(([name, value, className]) =>
    element("div", className, element("dt", "", name), element("dd", "", value))));
}

function fillStep() {
  say("step-note", `The x axis has the ${formatCount(commands.length)} commands of a step, the y axis the live bytes. ` +
    "Below are the part of the step and the part of the model.");
  new StepChart(byId("step-chart"), 360, device);
  byId("step-chart").ariaLabel = `Live bytes over the step, stacked by role; the peak is ${formatBytes(plan.lower_bound_bytes)} ` +
    `at ${commandName(plan.peak_command)}. The tables below have the numbers.`;
  fillRoles(byId("roles"), plan);
  const details = byId("step-details");
  details.addEventListener("toggle", () => {
    const box = details.querySelector(".scroll");
    if (details.open && !box.children.length) box.append(stepTable());
  });
}

/** One section for each other tier: its live bytes over the step by role. */
function fillTiers() {
  byId("tiers-section").hidden = !tiers.length;
  for (const tier of tiers) {
    const canvas = element("canvas"), roleTable = element("table"), [name] = tierNames[tier.name];
    canvas.tabIndex = 0;
    canvas.role = "img";
    canvas.setAttribute("aria-describedby", "keys");
    canvas.ariaLabel = `${name}: live bytes over the step, stacked by role; the peak is ${formatBytes(tier.lower_bound_bytes)} ` +
      `at ${commandName(tier.peak_command)}. The table below has the numbers.`;
    byId("tiers").append(element("h3", "", `${name}: ${formatBytes(tier.arena_bytes)}`),
      element("div", "figure", canvas), element("div", "scroll", roleTable));
    new StepChart(canvas, 200, memoryOf(tier));
    fillRoles(roleTable, tier, stack.filter((role) => tier.roles[role].most_bytes));
  }
  if (!tiers.length) return;
  say("step-title", "Device memory over the step");
  say("peak-title", "Live tensors at the peak of the device");
  say("arena-title", "The device arena over the step");
  say("tiers-note", "What each rank stores on other tiers, over the same commands. Bytes in transit count on both tiers; " +
    "bytes that pass through the host are working memory there.");
  byId("transfers").append(transferTable(plan.moved));
}

function fillPeak() {
  const peak = plan.peak_command;
  const there = plan.tensors.filter((tensor) => tensor.begin <= peak && peak <= tensor.end).sort((a, b) => b.bytes - a.bytes);
  say("peak-note", `${formatCount(there.length)} tensors at ${commandName(peak)}, ${placeOf(commands[peak])}: ` +
    `${formatBytes(plan.lower_bound_bytes)} in total, the largest first.`);
  byId("peak").append(...tensorTable(there, 12));
}

function fillArena() {
  const merged = plan.tensors_left_out ? ` ${formatCount(plan.tensors_left_out)} more of at most ` +
    `${formatBytes(plan.left_out_bytes_at_most)} are omitted here; they are counted above.` : "";
  say("arena-note", `One block of ${formatBytes(plan.arena_bytes)}, in which ${formatCount(plan.tensors.length)} tensors have fixed offsets. ` +
    `The width of a rectangle is the lifetime of a tensor, its height the size in bytes.${merged}`);
  new ArenaChart(byId("arena-chart"), 480, plan.arena_bytes);
  byId("arena-chart").ariaLabel = `Map of the arena: ${formatCount(plan.tensors.length)} tensors by offset and time. ` +
    "Use the arrow keys to hear each.";
  byId("largest").append(...tensorTable([...plan.tensors].sort((a, b) => b.bytes - a.bytes).slice(0, 10), 10));
}

function fillRest() {
  const { volume, tensor_volume: tensorVolume, mesh } = plan;
  byId("volume-section").hidden = !volume && !tensorVolume;
  if (volume) {
    const who = tensorVolume ? "Along data, each rank" : "Each rank";
    byId("volume").append(receivedNote(who, volume.received), volumeTable(volume));
  }
  if (tensorVolume)
    byId("volume").append(receivedNote("Along tensor, each rank", Math.floor(tensorVolume.total / mesh.tensor) * (mesh.tensor - 1)),
      tensorVolumeTable(tensorVolume));
  byId("decisions-section").hidden = !plan.decisions.length;
  byId("decisions").append(...decisionLists());
  say("footer", "Written by zeroc before the step runs. The numbers are those of the certificate. " +
    "This page contains them as JSON.");
  document.querySelectorAll(".whole").forEach((button) => { button.onclick = () => view.zoom(0, commands.length); });
}

fillHead();
fillFacts();
fillStep();
fillTiers();
fillPeak();
fillArena();
fillRest();
