R"js(
// --- memory by category over virtual time, of one rank

const categories = [
  { color: "#0072b2", pattern: "" }, { color: "#e69f00", pattern: "M0 0L6 6" }, { color: "#009e73", pattern: "M3 0V6" },
  { color: "#56b4e9", pattern: "M0 6L6 0" }, { color: "#cc79a7", pattern: "M0 3H6" }, { color: "#b9bfc8", pattern: "M2 3H4" },
];
const memory_panel = { cursor: 0.5 };

function memoryFrame(points, budget) {
  const width = find("memory-chart").clientWidth;
  const peak = points.reduce((most, point) => Math.max(most, point.total), 1);
  // A budget far above what is used would press the areas flat.
  const budget_fits = budget !== null && budget <= 4 * peak;
  const frame = { left: 64, right: width - 10, top: 16, bottom: 226, width, budget_fits, most: 1.06 * Math.max(peak, budget_fits ? budget : 0) };
  frame.x = (time) => {
    const share = Math.min(Math.max((time - state.begin) / (state.end - state.begin), 0), 1);
    return frame.left + share * (frame.right - frame.left);
  };
  frame.y = (bytes) => frame.bottom - bytes / frame.most * (frame.bottom - frame.top);
  return frame;
}

/** The points in the window; of those in one column of pixels the largest and the last. */
function visiblePoints(points, frame) {
  const shown = [];
  let before = null;
  let column = null;
  for (const point of points) {
    if (point.time <= state.begin) { before = point; continue; }
    if (point.time > state.end) break;
    const at = Math.floor(frame.x(point.time));
    if (at !== column) { column = at; shown.push(point); continue; }
    const in_column = shown.length > 1 && Math.floor(frame.x(shown[shown.length - 2].time)) === at ? 2 : 1;
    if (in_column === 1) { shown.push(point); continue; }
    if (shown[shown.length - 1].total > shown[shown.length - 2].total) shown[shown.length - 2] = shown[shown.length - 1];
    shown[shown.length - 1] = point;
  }
  return [{ ...(before ?? points[0]), time: state.begin }, ...shown];
}

function memoryDefinitions() {
  const definitions = shape("defs", {});
  categories.forEach(({ color, pattern }, i) => {
    const tile = shape("pattern", { id: `category-${i}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" });
    tile.append(shape("rect", { width: 6, height: 6, fill: color }), shape("path", { d: pattern || "M0 0", stroke: "#00000066", fill: "none" }));
    definitions.append(tile);
  });
  return definitions;
}

/** Each category's area reaches down to the base; those below it cover what is not its own. */
function memoryAreas(svg, shown, frame) {
  for (let category = categories.length; category-- > 0;) {
    let path = `M${frame.left} ${frame.bottom}`;
    for (const point of shown) {
      const sum = point.by.slice(0, category + 1).reduce((a, b) => a + b, 0);
      path += `H${frame.x(point.time).toFixed(1)}V${frame.y(sum).toFixed(1)}`;
    }
    svg.append(shape("path", { d: `${path}H${frame.right}V${frame.bottom}Z`, fill: `url(#category-${category})`,
                               "data-category": data.memory.categories[category] }));
  }
}

function memoryAxes(svg, frame, budget) {
  let by = 1;
  while (frame.most / by > 5) by *= 2;
  for (let bytes = 0; bytes <= frame.most; bytes += by)
    svg.append(shape("path", { class: "rule", d: `M${frame.left} ${frame.y(bytes)}H${frame.right}` }),
               shape("text", { x: frame.left - 6, y: frame.y(bytes) + 4, "text-anchor": "end" }, bytesText(bytes)));
  const length = (state.end - state.begin) * tick;
  const time_by = roundStep(length, Math.max(3, Math.floor((frame.right - frame.left) / 70)));
  for (let n = Math.ceil(timeOf(state.begin) / time_by); n * time_by <= timeOf(state.end); ++n) {
    const x = frame.x((n * time_by - data.timeline.begin) / tick);
    svg.append(shape("path", { class: "axis", d: `M${x} ${frame.bottom}v4` }),
               shape("text", { x: Math.min(Math.max(x, 34), frame.width - 34), y: frame.bottom + 18, "text-anchor": "middle" },
                     timeText(n * time_by, time_by)));
  }
  svg.append(shape("path", { class: "axis", d: `M${frame.left} ${frame.bottom}H${frame.right}` }));
  if (!frame.budget_fits) return;
  svg.append(shape("path", { class: "budget", d: `M${frame.left} ${frame.y(budget)}H${frame.right}` }),
             shape("text", { x: frame.right, y: frame.y(budget) - 5, "text-anchor": "end" }, `budget ${bytesText(budget)}`));
}

function memoryNow() {
  const points = memory_curves[state.rank];
  const time = state.begin + memory_panel.cursor * (state.end - state.begin);
  let now = points[0];
  for (const point of points) if (point.time <= time) now = point;
  return { time, now };
}

function memoryDetail(frame) {
  const { time, now } = memoryNow();
  const parts = data.memory.categories.map((name, i) => `${name} ${bytesText(now.by[i])}`);
  find("memory-detail").textContent =
    `rank ${state.rank} at ${timeText(timeOf(time), (state.end - state.begin) * tick / 1000)}: ${bytesText(now.total)}, of which ${parts.join(", ")}`;
  const x = frame.x(time);
  find("memory-cursor").setAttribute("d", `M${x} ${frame.top}V${frame.bottom}`);
}

function memorySays(budget, frame) {
  const memory = data.ranks[state.rank].memory;
  const limit = budget === null ? "without a budget" : `of a budget of ${bytesText(budget)}${frame.budget_fits ? "" : ", far above the picture"}`;
  find("memory-says").textContent = `peak ${bytesText(memory.peak)} ${limit}`;
}

function drawMemory() {
  const points = memory_curves[state.rank];
  const budget = data.ranks[state.rank].memory.budget;
  const frame = memory_panel.frame = memoryFrame(points, budget);
  const svg = shape("svg", { width: frame.width, height: 252, viewBox: `0 0 ${frame.width} 252`, "aria-hidden": "true" });
  svg.append(memoryDefinitions());
  memoryAreas(svg, visiblePoints(points, frame), frame);
  memoryAxes(svg, frame, budget);
  svg.append(shape("path", { class: "cursor", id: "memory-cursor" }));
  find("memory-chart").replaceChildren(svg);
  find("memory-rank").value = state.rank;
  memorySays(budget, frame);
  memoryDetail(frame);
}

function memoryKeys(event) {
  const by = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1, Home: -1, End: 1 }[event.key];
  if (by !== undefined) {
    memory_panel.cursor = Math.min(Math.max(memory_panel.cursor + by, 0), 1);
    memoryDetail(memory_panel.frame);
  } else if (event.key === "+" || event.key === "=") zoom(0.5, memory_panel.cursor);
  else if (event.key === "-" || event.key === "_") zoom(2, memory_panel.cursor);
  else if (event.key === "ArrowUp" || event.key === "ArrowDown") chooseRank(state.rank + (event.key === "ArrowUp" ? -1 : 1));
  else return;
  event.preventDefault();
}

function memoryPointer(event) {
  const { frame } = memory_panel;
  const x = event.clientX - find("memory-chart").getBoundingClientRect().left;
  memory_panel.cursor = Math.min(Math.max((x - frame.left) / (frame.right - frame.left), 0), 1);
  memoryDetail(frame);
}

function startMemory() {
  const choice = find("memory-rank");
  data.ranks.forEach((rank) => choice.append(element("option", { value: rank.rank }, `${rank.rank}: ${placeText(rank.rank)}`)));
  choice.addEventListener("change", () => chooseRank(Number(choice.value)));
  const chart = find("memory-chart");
  chart.addEventListener("keydown", memoryKeys);
  chart.addEventListener("pointermove", memoryPointer);
  chart.addEventListener("pointerdown", memoryPointer);
  const legend = find("memory-legend");
  for (let i = categories.length; i-- > 0;) {  // from the top of the stack to its base
    const svg = shape("svg", { viewBox: "0 0 26 14", "aria-hidden": "true" });
    svg.append(shape("rect", { width: 26, height: 14, fill: `url(#category-${i})` }));
    legend.append(element("li", {}, svg, data.memory.categories[i]));
  }
  let asked = false;
  listeners.push(() => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; drawMemory(); });
  });
}
)js"
