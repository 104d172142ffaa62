// The plan, and the format of numbers and names.

const plan = data;
const commands = plan.commands;
const roles = plan.roles.map((role) => role.name);
/** Roles from the bottom of a stack to its top: persistent roles first. */
const stack = [0, 2, 1, 3, 4];
const explained = [
  "weights, or this rank's shard of them",
  "reduced gradients and the buckets of their reduction",
  "moments and master weights, read only by the update",
  "computed in forward, read in backward",
  "everything else: gathered weights, intermediate results, workspace",
];

/** Live bytes of a tier by role and command, and of all roles. */
function memoryOf(tier) {
  const live = roles.map(() => new Float64Array(commands.length));
  const total = new Float64Array(commands.length);
  tier.live.forEach((row, index) => {
    const end = index + 1 < tier.live.length ? tier.live[index + 1][0] : commands.length;
    roles.forEach((_, role) => live[role].fill(row[role + 1], row[0], end));
  });
  live.forEach((bytes) => bytes.forEach((b, command) => { total[command] += b; }));
  return { tier, live, total };
}

/** The device, whose figures are those of the plan itself. */
const device = memoryOf(plan);
/** The other tiers; most plans have none. */
const tiers = plan.tiers ?? [];
/** The name of a tier as a title and after "bytes of". */
const tierNames = { host: ["Host memory", "host memory"], nvme: ["Disk", "disk"] };

/** "68.96 MiB", as the certificate writes sizes. */
function formatBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${unit ? bytes.toFixed(2) : Math.round(bytes)} ${units[unit]}`;
}

const formatCount = (number) => number.toLocaleString("en-GB");

/** "5.29 M": for a number whose last digits say nothing. */
function formatShort(number) {
  for (const [size, unit] of [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]])
    if (number >= size) return `${(number / size).toPrecision(3)} ${unit}`;
  return `${number}`;
}

const formatSigned = (number) => (number > 0 ? "+" : number < 0 ? "−" : "±") + formatCount(Math.abs(number));

/** "12 %"; what is there is never 0 %, and what is not all is never 100 %. */
function formatShare(part, whole) {
  const percent = whole ? 100 * part / whole : 0;
  if (percent > 0 && percent < 1) return "< 1 %";
  return `${percent < 100 ? Math.min(99, Math.round(percent)) : 100} %`;
}

/** "a", "a and b", "a, b and c". */
const listed = (words) => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

/** The length of the common prefix of all scopes, such as "model." */
const commonScope = (() => {
  const scopes = [...new Set(commands.map((command) => command.scope))].filter(Boolean);
  const words = scopes.map((scope) => scope.split("."));
  let length = 0;
  for (let i = 0; words.length > 1 && words.every((w) => i + 1 < w.length && w[i] === words[0][i]); ++i)
    length += words[0][i].length + 1;
  return length;
})();

const shortScope = (scope) => scope.slice(commonScope);

/** "backward of transformer.h.5". */
const placeOf = (command) => command.part + (command.scope ? ` of ${shortScope(command.scope)}` : "");

/** "node_addmm_7 (contract)". */
function commandName(index) {
  const { name, kind } = commands[index];
  if (kind === "return") return "the end of the step";
  return name ? `${name} (${kind.replaceAll("_", "-")})` : kind.replaceAll("_", "-");
}

/** The name of a tensor in a list; workspace has no name of its own. */
const tensorName = (tensor) => tensor.kind === "scratch" ? `workspace of ${tensor.name}` : tensor.name || "(no name)";

function madeAt(tensor) {
  if (tensor.kind === "input") return "input of the step";
  if (tensor.kind === "state" || tensor.kind === "constant")
    return "before the step" + (tensor.scope ? `, of ${shortScope(tensor.scope)}` : "");
  return `${commandName(tensor.begin)}, ${placeOf(commands[tensor.begin])}`;
}

function lastRead(tensor) {
  if (tensor.kind === "state" || tensor.kind === "constant") return "persistent";
  if (tensor.begin === tensor.end) return "immediately";
  return `${commandName(tensor.end)}, ${placeOf(commands[tensor.end])}`;
}

function chip(role) {
  const node = element("span", "chip");
  node.style.background = `var(--role-${role})`;
  return node;
}
