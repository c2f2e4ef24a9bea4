R"js(
// --- elements, numbers, and what the panels share

const find = (id) => document.getElementById(id);
const data = JSON.parse(find("data").textContent);

/** An HTML element; text children are text, never markup. */
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A table's header and rows; cells become text. */
function fillTable(table, heads, rows) {
  const row = (cells, make) => element("tr", {}, ...cells.map(make));
  table.append(element("thead", {}, row(heads, (head) => element("th", { scope: "col" }, head))),
               element("tbody", {}, ...rows.map((cells) => row(cells, (cell) => element("td", {}, String(cell))))));
}

function shape(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** At most four significant digits, as the program prints them. */
const short = (value) => String(Number(value.toPrecision(4)));

function bytesText(bytes) {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = bytes;
  for (; value >= 1024 && unit + 1 < names.length; ++unit) value /= 1024;
  return (unit === 0 ? bytes : short(value)) + " " + names[unit];
}

/** As narrow as a cell of the matrix: "3.1M". */
function bytesNarrow(bytes) {
  const names = ["", "K", "M", "G", "T"];
  let unit = 0;
  let value = bytes;
  for (; value >= 1000 && unit + 1 < names.length; ++unit) value /= 1024;
  return (value >= 10 || unit === 0 ? Math.round(value) : Number(value.toFixed(1))) + names[unit];
}

function secondsText(seconds) {
  const size = Math.abs(seconds);
  if (size < 1e-3) return short(seconds * 1e6) + " us";
  if (size < 1) return short(seconds * 1e3) + " ms";
  return short(seconds) + " s";
}

/** A point of time, with as many digits as tell it from another that is `step` seconds away. */
function timeText(seconds, step) {
  const [factor, unit] = Math.abs(seconds) + step < 1e-3 ? [1e6, " us"] : Math.abs(seconds) + step < 1 ? [1e3, " ms"] : [1, " s"];
  const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step * factor) - 1e-9)));
  return (seconds * factor).toFixed(digits) + unit;
}

/** 1, 2 or 5 times a power of ten: the smallest that cuts `length` into at most `parts`. */
function roundStep(length, parts) {
  const least = length / parts;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
  return 10 * power;
}

/** The colours in force: of the system's theme, or light ones for paper. */
function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  return { page: of("page"), panel: of("panel"), line: of("line"), text: of("text"), quiet: of("quiet"),
           accent: of("accent"), hatch: of("hatch"), grid: of("grid"), idle: of("idle") };
}

/** What the panels show together; whoever changes it calls tell(). Times are ticks of the timeline. */
const state = { rank: 0, begin: 0, end: 1, selected: null };
const listeners = [];
function tell(what) {
  for (const listener of listeners) listener(what);
}

function chooseRank(rank) {
  if (rank < 0 || rank >= data.ranks.length || rank === state.rank) return;
  state.rank = rank;
  tell("rank");
}

const least_window = 200;  // ticks
function showWindow(begin, end) {
  const length = Math.min(Math.max(end - begin, least_window), data.timeline.length);
  state.begin = Math.min(Math.max(begin, 0), data.timeline.length - length);
  state.end = state.begin + length;
  tell("window");
}

/** Keeps the share `at` of the window where it is. */
function zoom(factor, at) {
  const length = state.end - state.begin;
  const fixed = state.begin + at * length;
  showWindow(fixed - at * length * factor, fixed + (1 - at) * length * factor);
}

function pan(share) {
  const by = share * (state.end - state.begin);
  showWindow(state.begin + by, state.end + by);
}

const is_phone = () => window.innerWidth <= 600;
const nodeOf = (rank) => Math.floor(rank / data.cluster.devices_per_node);
function placeText(rank) {
  const at = data.ranks[rank].coordinates;
  return `pp ${at.pp}, dp ${at.dp}, tp ${at.tp}`;
}
)js"
