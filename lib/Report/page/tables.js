// Tables of what the charts show, also for screen readers.

const exact = (bytes) => {
  const cell = element("span", "", formatBytes(bytes));
  cell.title = `${formatCount(bytes)} bytes`;
  return cell;
};

const roleCell = (role) => element("span", "nowrap", chip(role), roles[role]);

/** Tensors in order, the first few until the user asks for all. */
function tensorTable(tensors, shown) {
  const columns = [["tensor", "name"], ["role", ""], ["bytes", "number"], ["type", "small"], ["computed at", "small"],
    ["last read at", "small"]];
  const row = (tensor) => [tensorName(tensor), roleCell(tensor.role), exact(tensor.bytes), tensor.type || "-",
    madeAt(tensor), lastRead(tensor)];
  const box = scroll(table(columns, tensors.slice(0, shown).map(row)));
  if (tensors.length <= shown) return [box];
  const more = element("button", "more", `Show all ${formatCount(tensors.length)}`);
  more.type = "button";
  more.onclick = () => {
    box.replaceChildren(table(columns, tensors.map(row)));
    more.remove();
  };
  return [box, more];
}

/** The legend and the table of a tier from the certificate. */
function roleTable(tier, shown = stack) {
  const most = Math.max(...tier.roles.map((role) => role.most_bytes), 1);
  const bar = (role) => {
    if (!tier.roles[role].at_peak_bytes) return "";
    const span = element("span");
    span.style.cssText = `background: var(--role-${role}); width: ${100 * tier.roles[role].at_peak_bytes / most}%`;
    return span;
  };
  const rows = [...shown].reverse().map((role) => [roleCell(role), explained[role], exact(tier.roles[role].most_bytes),
    exact(tier.roles[role].at_peak_bytes), formatShare(tier.roles[role].at_peak_bytes, tier.lower_bound_bytes), bar(role)]);
  const content = table([["role", ""], ["", "small explains"], ["maximum", "number"], ["at the peak", "number"],
    ["share", "number"], ["", "bar"]], rows);
  content.prepend(element("caption", "hidden", "Bytes of each role"));
  return scroll(content);
}

/** What a rank stores throughout the step, on all tiers, by role and type of the elements. */
function storedTable() {
  const rows = plan.stored.map(({ role, type, bytes }) => [roleCell(roles.indexOf(role)), type, exact(bytes)]);
  return table([["role", ""], ["type", ""], ["bytes", "number"]], rows);
}

/** One row for each run of commands in one part of the step and one part of the model. */
function stepTable() {
  const { live, total } = device;
  const rows = runsOf((command) => placeOf(command)).map(({ begin, end, text }) => {
    let fullest = begin;
    for (let c = begin; c < end; ++c) if (total[c] > total[fullest]) fullest = c;
    return [text, `${begin + 1} to ${end}`, exact(total[fullest]), ...stack.map((role) => exact(live[role][fullest]))];
  });
  return table([["part", ""], ["commands", "nowrap"], ["maximum", "number"],
    ...stack.map((role) => [roles[role], "number"])], rows);
}

/** Transfers between tiers, of one rank and of all ranks. */
function transferTable(moved) {
  const rows = [["device to host", moved.device_to_host], ["host to device", moved.host_to_device],
    ["read from disk", moved.nvme_read], ["written to disk", moved.nvme_written]]
    .filter(([, bytes]) => bytes).map(([name, bytes]) => [name, exact(bytes), exact(bytes * plan.ranks)]);
  return table([["", ""], ["per rank and step", "number"], ["all ranks", "number"]], rows);
}

/** What a step reads and writes on the drives of a node and on each of them, and how long they last. */
function drivesTable({ count, years, ...drives }) {
  const known = (figure, text) => figure ? text(Number(figure.toPrecision(3))) : "not known";
  const terabytes = (bytes) => known(bytes / 1e12, (figure) => `${figure} TB`);
  const parts = count > 1 ? [1, count] : [1];
  const row = (name, text, total) => [name, ...parts.map((part) => text(total / part))];
  return table([["", ""], [count > 1 ? `all ${count} drives` : "the drive", "number"], ["each", "number"]].slice(0, 1 + parts.length),
    [row("read in a step", exact, drives.read_per_step), row("written in a step", exact, drives.written_per_step),
      row("written in a day", terabytes, drives.written_per_day), row("endurance", terabytes, drives.endurance),
      ["years until it is used up", ...parts.map(() => known(years, String))]]);
}

/** How evenly ranks share the steps of matrices or whole tensors. */
function ownersTable(owners) {
  const { busiest_operations: busiest, mean_operations: mean } = owners;
  const rows = [["tensors of which one rank computes the step", formatCount(owners.tensors)],
    ["tensors of which every rank computes the step", formatCount(owners.of_all_ranks)],
    ["operations of the rank with most", `${formatCount(busiest)}, ${(busiest / mean).toFixed(2)} x the mean`],
    ["operations of all steps, mean of ranks", formatCount(Math.round(mean))],
    ["elements of tensors with owners", formatCount(owners.elements)],
    ["elements of their buckets", formatCount(owners.stored_elements)]];
  return table([["", ""], ["per step", "number"]], rows);
}

/** What `who`, "Each rank", receives of others. */
function receivedNote(who, received) {
  return element("p", "note", `${who} receives ${formatCount(received)} elements per step: ` +
    "the total without the parts that it already holds.");
}

/** Activations, their gradients and what updates need that ranks along an axis of the mesh exchange. */
function axisVolumeTable(volume) {
  const rows = [["forward", volume.forward], ["backward", volume.backward], ["recomputed layers", volume.recomputed],
    ["gathered again for backward", volume.gathered_again], ["saved activations", volume.saved],
    ["shards of matrices and tensors for their steps", volume.update]]
    .filter(([, elements]) => elements).map(([name, elements]) => [name, formatCount(elements)]);
  return table([["", ""], ["elements per step", "number"]],
    [...rows, [element("b", "", "total"), element("b", "", formatCount(volume.total))]]);
}

function volumeTable(volume) {
  const rows = [["parameters gathered for forward", volume.forward], ["parameters gathered for backward", volume.backward],
    ["parameters gathered after the update", volume.update], ["gradients reduced", volume.gradients]]
    .filter(([, elements]) => elements).map(([name, elements]) => [name, formatCount(elements)]);
  const causes = volume.causes;
  const differences = [["gathered again for distant uses", causes?.gathered_again],
    ["not gathered, because backward does not read them", causes?.not_read_in_backward],
    ["not reduced, because they are not trained", causes?.not_trained], ["gathered once after the update, not sharded", causes?.kept_whole], ["padding of buckets", causes?.padding], ["bytes of codes and scales instead of elements", causes?.in_blocks],
    ["gathered across nodes after the update", causes?.across_nodes],
    ["gathered as unsharded gradients for the update", causes?.whole_gradients],
    ["gathered for recomputation", causes?.read_again]]
    .filter(([, elements]) => elements).map(([name, elements]) => [name, formatSigned(elements)]);
  const paper = [`the ZeRO paper's ${volume.paper_times}P`, formatCount(volume.paper)];
  return table([["", ""], ["elements per step", "number"]],
    [...rows, [element("b", "", "total"), element("b", "", formatCount(volume.total))], paper,
      ["difference", formatSigned(volume.total - volume.paper)], ...differences.map(([name, n]) => [`of which ${name}`, n])]);
}

/** Decisions that are long lists, by category and name. */
const folded = {
  "parameters trained": "Trained parameters",
  "parameters left-out": "Float constants that are not trained",
  "recognise found": "Recognized composite operators",
};

/** The figures of a decision, if it has any. */
const worth = ({ bytes, seconds }) => [bytes !== undefined && formatBytes(bytes),
  seconds !== undefined && `${seconds.toPrecision(3)} s`].filter(Boolean).join(", ");

function decisionItem(decision) {
  const figures = worth(decision);
  return element("li", "", decision.text, ...(figures ? [" ", element("span", "small", `(${figures})`)] : []));
}

function decisionLists() {
  const groups = new Map();
  for (const decision of plan.decisions) {
    const title = folded[`${decision.category} ${decision.name}`];
    const key = title ?? decision.category;
    if (!groups.has(key)) groups.set(key, { key, isFolded: Boolean(title), decisions: [] });
    groups.get(key).decisions.push(decision);
  }
  const open = ({ key, decisions }) => [element("h3", "", key), element("ul", "decided", ...decisions.map(decisionItem))];
  const closed = ({ key, decisions }) => element("details", "", element("summary", "", `${key} (${formatCount(decisions.length)})`),
    element("ul", "", ...decisions.map(decisionItem)));
  const all = [...groups.values()];
  return [...all.filter((group) => !group.isFolded).flatMap(open), ...all.filter((group) => group.isFolded).map(closed)];
}
