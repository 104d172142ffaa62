// Puts the page together.

const byId = (id) => document.getElementById(id);
const say = (id, text) => { byId(id).textContent = text; };

function fillHead() {
  const ranks = plan.ranks === 1 ? "one rank" : `each of ${formatCount(plan.ranks)} ranks`;
  const trains = plan.optimizer !== "";
  document.title = `${plan.model}: ${formatBytes(plan.arena_bytes)} a rank`;
  say("model", `${plan.model} · ZeRO stage ${plan.stage}`);
  const needs = [formatBytes(plan.arena_bytes) + (tiers.length ? " of device memory" : ""),
    ...tiers.map((tier) => `${formatBytes(tier.arena_bytes)} of ${tierNames[tier.name][1]}`)];
  say("answer", `${trains ? "A training step" : "A forward pass"} needs ${listed(needs)} on ${ranks}.`);
  const peak = commands[plan.peak_command];
  const shares = plan.roles.map((role, index) => ({ name: roles[index], bytes: role.at_peak_bytes }))
    .filter((role) => role.bytes).sort((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes }) => `${formatShare(bytes, plan.lower_bound_bytes)} ${name === "working" ? "working memory" : name}`);
  const slack = plan.arena_bytes - plan.lower_bound_bytes;
  const packing = slack ? `All that is live at once is ${formatBytes(plan.lower_bound_bytes)}: the arena is ${(100 * (plan.ratio - 1)).toFixed(2)} % larger than any must be.`
    : "The arena is exactly what is live then: none can be smaller.";
  const place = peak.part === "epilogue" ? "the update" : `the ${placeOf(peak)}`;
  say("story", `${tiers.length ? "The device's" : "The"} peak is in ${place}, at ${commandName(plan.peak_command)}. Live there: ${listed(shares)}. ${packing}`);
}

function fillFacts() {
  const trained = plan.trained_parameters;
  const facts = [["arena", `${formatCount(plan.arena_bytes)} bytes`], ["most live at once", `${formatCount(plan.lower_bound_bytes)} bytes`],
    ["parameters", formatShort(plan.parameters) + (trained === plan.parameters ? "" : `, ${formatShort(trained)} trained`)],
    ["stored as", plan.precision], ["ranks", formatCount(plan.ranks)], ["ZeRO stage", `${plan.stage}`],
    ["micro-batches", formatCount(plan.micro_batches)], ["model state by ZeRO's arithmetic", formatBytes(plan.state_bytes)],
    ...tiers.map((tier) => [tierNames[tier.name][0].toLowerCase(), `${formatCount(tier.arena_bytes)} bytes`]),
    ["written to disk in a step", plan.moved?.nvme_written && formatBytes(plan.moved.nvme_written)],
    ["optimizer", plan.optimizer, "wide"]];
  byId("facts").append(...facts.filter(([, value]) => value).map(([name, value, className]) =>
    element("div", className, element("dt", "", name), element("dd", "", value))));
}

function fillStep() {
  say("step-note", `From left to right the ${formatCount(commands.length)} commands of a step, upwards the bytes that are live. ` +
    "Beneath, the part of the step and the part of the model.");
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

/** One part for each tier beside the device: how full it is over the step, and with what. */
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
  say("peak-title", "What is live at the device's peak");
  say("arena-title", "Where it lies on the device, and how long");
  say("tiers-note", "What each rank keeps beside its device, over the same commands. Bytes that are on their way count " +
    "where they come from and where they go; what passes by on the host is working memory there.");
  byId("transfers").append(transferTable(plan.moved));
}

function fillPeak() {
  const peak = plan.peak_command;
  const there = plan.tensors.filter((tensor) => tensor.begin <= peak && peak <= tensor.end).sort((a, b) => b.bytes - a.bytes);
  say("peak-note", `${formatCount(there.length)} tensors at ${commandName(peak)}, ${placeOf(commands[peak])}: ` +
    `${formatBytes(plan.lower_bound_bytes)} together, the largest first.`);
  byId("peak").append(...tensorTable(there, 12));
}

function fillArena() {
  const merged = plan.tensors_left_out ? ` ${formatCount(plan.tensors_left_out)} more of at most ` +
    `${formatBytes(plan.left_out_bytes_at_most)} are left out here; they are counted above.` : "";
  say("arena-note", `One block of ${formatBytes(plan.arena_bytes)}, in which ${formatCount(plan.tensors.length)} tensors have fixed places. ` +
    `The width of a rectangle is the time for which its bytes are taken, its height how many they are.${merged}`);
  new ArenaChart(byId("arena-chart"), 480, plan.arena_bytes);
  byId("arena-chart").ariaLabel = `Map of the arena: ${formatCount(plan.tensors.length)} tensors by offset and time. ` +
    "Use the arrow keys to hear each.";
  byId("largest").append(...tensorTable([...plan.tensors].sort((a, b) => b.bytes - a.bytes).slice(0, 10), 10));
}

function fillRest() {
  const { volume, ranks } = plan;
  byId("volume-section").hidden = !volume;
  if (volume) {
    say("volume-note", `Each rank receives ${formatCount(Math.floor(volume.total / ranks) * (ranks - 1))} elements in a step: ` +
      `${formatCount(ranks - 1)}/${formatCount(ranks)} of what is moved altogether, since its own part is there already.`);
    byId("volume").append(volumeTable(volume));
  }
  byId("decisions-section").hidden = !plan.decisions.length;
  byId("decisions").append(...decisionLists());
  say("footer", "Written by zeroc before the step has ever run. The numbers are those of the certificate, " +
    "and are in this page as JSON.");
  document.querySelectorAll(".whole").forEach((button) => { button.onclick = () => view.zoom(0, commands.length); });
}

fillHead();
fillFacts();
fillStep();
fillTiers();
fillPeak();
fillArena();
fillRest();
