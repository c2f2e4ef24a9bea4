R"js(
// --- which rank is where

/** Left borders of stages: colour and kind of line, as neither is enough alone. */
const stage_colors = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];
const stage_lines = ["solid", "double", "dashed", "dotted"];

function groupsWith(rank, other) {
  const a = data.ranks[rank].coordinates;
  const b = data.ranks[other].coordinates;
  if (rank === other) return "chosen";
  if (a.pp === b.pp && a.dp === b.dp) return "T";
  if (a.pp === b.pp && a.tp === b.tp) return "D";
  if (a.dp === b.dp && a.tp === b.tp) return "P";
  return "";
}

function deviceButton(rank) {
  const at = data.ranks[rank].coordinates;
  const button = element("button", { type: "button", class: "device", "data-rank": rank },
    element("b", {}, `rank ${rank}`), element("span", {}, `pp ${at.pp} dp ${at.dp} tp ${at.tp}`),
    element("span", {}, bytesText(data.ranks[rank].memory.peak)), element("span", { class: "group" }));
  button.style.borderLeftColor = stage_colors[at.pp % stage_colors.length];
  button.style.borderLeftStyle = stage_lines[at.pp % stage_lines.length];
  button.setAttribute("aria-label", `rank ${rank}, node ${nodeOf(rank)}, ${placeText(rank)}, peak memory ${bytesText(data.ranks[rank].memory.peak)}`);
  button.addEventListener("click", () => chooseRank(rank));
  return button;
}

function markLayout() {
  for (const button of find("layout-map").querySelectorAll("button")) {
    const rank = Number(button.dataset.rank);
    button.setAttribute("aria-pressed", rank === state.rank);
    button.tabIndex = rank === state.rank ? 0 : -1;
    button.querySelector(".group").textContent = groupsWith(state.rank, rank);
  }
}

function layoutKeys(event) {
  const map = find("layout-map");
  const columns = getComputedStyle(map.querySelector(".devices")).gridTemplateColumns.split(" ").length;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  chooseRank(state.rank + by);
  map.querySelector(`[data-rank="${state.rank}"]`).focus();
}

function startLayout() {
  const map = find("layout-map");
  for (let node = 0; node <= nodeOf(data.ranks.length - 1); ++node) {
    const devices = element("div", { class: "devices" });
    for (let rank = 0; rank < data.ranks.length; ++rank) if (nodeOf(rank) === node) devices.append(deviceButton(rank));
    map.append(element("div", { class: "node" }, element("h3", {}, `node ${node}`), devices));
  }
  map.addEventListener("keydown", layoutKeys);
  listeners.push((what) => { if (what === "rank") markLayout(); });
  markLayout();
}
)js"
