// The page of the price table: the data are its rows.

const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** "74.51 GiB". */
function formatBytes(bytes) {
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${unit ? bytes.toFixed(2) : bytes} ${units[unit]}`;
}

const formatCount = (number) => Math.round(number).toLocaleString("en-US");

/** Four significant digits; nothing for null. */
const formatNumber = (number) => number == null ? "-" : number >= 1000 ? formatCount(number)
  : String(Number(number.toPrecision(4)));

/** A size in units, whose exact bytes are its title. */
function exact(bytes) {
  if (!bytes) return "-";
  const cell = element("span", "", formatBytes(bytes));
  cell.title = `${formatCount(bytes)} bytes`;
  return cell;
}

/** The verdict of a row, with the reason as its title. */
function verdict(row) {
  const cell = element("span", row.fits === "yes" ? "fits" : "", row.fastest ? "fastest" : row.fits);
  cell.title = row.outcome;
  return cell;
}

function priceCells(row, index) {
  const name = [String(index + 1), row.way, row.where];
  if (!("seconds" in row)) return [...name, "-", "-", "-", "-", "-", "-", "-", verdict(row)];
  return [...name, exact(row.device_bytes), exact(row.host_bytes), exact(row.disk_bytes), formatNumber(row.seconds),
    formatNumber(row.hours), row.written_bytes ? formatNumber(row.written_bytes / 1e12) : "-",
    formatNumber(row.drive_years), verdict(row)];
}

function priceTable() {
  const columns = [["", "number"], ["way", "nowrap"], ["where", "nowrap"], ["device", "number"], ["host", "number"],
    ["disk", "number"], ["s/step", "number"], ["hours", "number"], ["TB written", "number"], ["years", "number"],
    ["fits", "nowrap"]];
  const content = table(columns, data.rows.map(priceCells));
  content.querySelectorAll("tbody tr").forEach((row, i) => { if (data.rows[i].fastest) row.className = "best"; });
  return content;
}

const commandTable = () => table([["", "number"], ["outcome", "small"], ["command", "name"]],
  data.rows.map((row, i) => [String(i + 1), row.outcome, row.command]));

writePage({
  title: `Ways to train ${data.model}`, kicker: data.model, heading: `${data.conclusion}.`.replace(/^./, (c) => c.toUpperCase()),
  lead: "Each row is a plan of the compiler, and its bytes are those of the certificate that the command of the row " +
    `prints. Seconds are simulated on this machine: ${data.machine.name}.`,
  facts: [["model", `${formatCount(data.parameters)} parameters`, "wide"], ["step", data.step, "wide"], ["tokens to train with", formatCount(data.tokens)],
    ["machine", data.machine.text, "wide"]],
  sections: [
    { id: "prices", title: "Ways to train", content: [scroll(priceTable())],
      note: "Bytes are those of each rank on each tier; point at them for the exact number. Hours and terabytes written " +
        `to drives are those of ${formatCount(data.tokens)} tokens. After so many years of such steps the endurance of the ` +
        "drives is used up, if the machine says it." },
    { id: "notes", title: "Assumed", hidden: !data.notes.length,
      content: [element("ul", "decided", ...data.notes.map((note) => element("li", "", note)))] },
    { id: "commands", title: "Commands", content: [scroll(commandTable())],
      note: "Each prints the certificate with --plan-only, or compiles with -o." },
  ],
  footer: "Written by zeroc. This page contains the numbers as JSON.",
});
