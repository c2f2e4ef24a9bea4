R"js(
// --- the timeline under pointer and keys

function timelineText(at) {
  if (at.index >= 0) return instructionText(at.rank, at.lane, at.index);
  const idle = lanes[at.rank].idle.find(([from, to]) => from <= at.time && at.time < to);
  if (!idle) return "";
  const seconds = (idle[1] - idle[0]) * tick;
  return `rank ${at.rank} (${placeText(at.rank)}): bubble, nothing computed from ` +
    `${timeText(timeOf(idle[0]), Math.max(seconds / 100, tick))} on for ${secondsText(seconds)}`;
}

function showTip(event, text) {
  const tip = find("timeline-tip");
  tip.hidden = text === "";
  if (tip.hidden) return;
  tip.textContent = text;
  const chart = find("timeline-chart").getBoundingClientRect();
  const x = event.clientX - chart.left;
  const y = event.clientY - chart.top;
  tip.style.left = Math.min(Math.max(x + 12, 0), Math.max(0, chart.width - tip.offsetWidth - 2)) + "px";
  tip.style.top = y + 16 + "px";
}

function select(rank, lane, index) {
  if (lanes[rank][lane].count === 0) return;
  state.selected = { rank, lane, index };
  find("timeline-detail").textContent = instructionText(rank, lane, index);
  if (rank !== state.rank) chooseRank(rank);
  else drawTimeline();
}

/** Moves the window so that the selected instruction is in it. */
function reveal() {
  const { rank, lane, index } = state.selected;
  const columns = lanes[rank][lane];
  const length = state.end - state.begin;
  if (columns.begin[index] < state.begin || columns.begin[index] >= state.end)
    showWindow(columns.begin[index] - length / 4, columns.begin[index] + 3 * length / 4);
}

/** The first instruction of a lane that ends after a time. */
function firstFrom(lane, time) {
  for (let i = 0; i < lane.count; ++i) if (lane.end[i] > time) return i;
  return Math.max(0, lane.count - 1);
}

function stepSelection(by) {
  if (!state.selected) {
    const lane = lane_names.find((name) => lanes[state.rank][name].count > 0);
    if (lane) select(state.rank, lane, firstFrom(lanes[state.rank][lane], state.begin));
    return;
  }
  const { rank, lane, index } = state.selected;
  select(rank, lane, Math.min(Math.max(index + by, 0), lanes[rank][lane].count - 1));
  reveal();
}

/** The same time on another rank, or another lane. */
function moveSelection(rank, lane) {
  if (rank < 0 || rank >= lanes.length) return;
  if (!state.selected) return chooseRank(rank);
  const from = state.selected;
  const time = lanes[from.rank][from.lane].begin[from.index];
  const target = lanes[rank][lane].count > 0 ? lane : "compute";
  select(rank, target, firstFrom(lanes[rank][target], time));
}

function nextLane() {
  const present = lane_names.filter((name) => lanes[state.rank][name].count > 0);
  const at = present.indexOf(state.selected ? state.selected.lane : "");
  moveSelection(state.rank, present[(at + 1) % present.length]);
}

function zoomToSelection() {
  if (!state.selected) return;
  const { rank, lane, index } = state.selected;
  const columns = lanes[rank][lane];
  const margin = Math.max(columns.end[index] - columns.begin[index], least_window) * 0.5;
  showWindow(columns.begin[index] - margin, columns.end[index] + margin);
}

const middle_of_selection = () => {
  if (!state.selected) return 0.5;
  const columns = lanes[state.selected.rank][state.selected.lane];
  const at = (columns.begin[state.selected.index] - state.begin) / (state.end - state.begin);
  return at >= 0 && at <= 1 ? at : 0.5;
};

function timelineKeys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const lane = state.selected ? state.selected.lane : "compute";
  const shift = event.shiftKey;
  const acts = {
    "+": () => zoom(0.5, middle_of_selection()), "=": () => zoom(0.5, middle_of_selection()),
    "-": () => zoom(2, middle_of_selection()), "_": () => zoom(2, middle_of_selection()),
    "0": () => showWindow(0, data.timeline.length),
    ArrowLeft: () => (shift ? pan(-0.2) : stepSelection(-1)), ArrowRight: () => (shift ? pan(0.2) : stepSelection(1)),
    ArrowUp: () => moveSelection(state.rank - 1, lane), ArrowDown: () => moveSelection(state.rank + 1, lane),
    Home: () => { select(state.rank, lane, 0); reveal(); },
    End: () => { select(state.rank, lane, lanes[state.rank][lane].count - 1); reveal(); },
    l: nextLane, L: nextLane, Enter: zoomToSelection,
    Escape: () => { state.selected = null; find("timeline-detail").textContent = ""; drawTimeline(); },
  };
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  find("timeline-tip").hidden = true;
  act();
}

/** The share of the window at a pointer. */
function shareAt(event) {
  const frame = timelineFrame();
  const x = event.clientX - find("timeline-chart").getBoundingClientRect().left;
  return Math.min(Math.max((x - frame.left) / (frame.right - frame.left), 0), 1);
}

function timelineWheel(event) {
  const all = state.end - state.begin >= data.timeline.length;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
  else if (event.deltaY > 0 && all) return;  // nothing to zoom out of: the page scrolls
  else zoom(1.0015 ** event.deltaY, shareAt(event));
  event.preventDefault();
}

function placeInChart(event) {
  const box = find("timeline-chart").getBoundingClientRect();
  return timelineAt(event.clientX - box.left, event.clientY - box.top);
}

/** One pointer drags, two pinch. */
function startPointers(chart) {
  const pointers = new Map();
  let moved = 0;
  chart.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event.clientX);
    moved = 0;
    if (event.pointerType === "mouse") chart.setPointerCapture(event.pointerId);
  });
  chart.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) {
      const at = placeInChart(event);
      return showTip(event, at ? timelineText(at) : "");
    }
    const before = [...pointers.values()];
    const by = event.clientX - pointers.get(event.pointerId);
    pointers.set(event.pointerId, event.clientX);
    moved += Math.abs(by);
    const frame = timelineFrame();
    if (pointers.size === 1 && moved > 3) pan(-by / (frame.right - frame.left));
    if (pointers.size !== 2) return;
    const after = [...pointers.values()];
    zoom(Math.max(Math.abs(before[0] - before[1]), 8) / Math.max(Math.abs(after[0] - after[1]), 8), 0.5);
  });
  const lift = (event) => {
    const clicked = pointers.delete(event.pointerId) && event.type === "pointerup" && moved <= 3;
    const at = clicked ? placeInChart(event) : null;
    if (!at) return;
    if (at.index >= 0) return select(at.rank, at.lane, at.index);
    find("timeline-detail").textContent = timelineText(at);
    chooseRank(at.rank);
  };
  for (const type of ["pointerup", "pointercancel"]) chart.addEventListener(type, lift);
  chart.addEventListener("pointerleave", () => { find("timeline-tip").hidden = true; });
}

function startTools() {
  find("zoom-in").addEventListener("click", () => zoom(0.5, middle_of_selection()));
  find("zoom-out").addEventListener("click", () => zoom(2, middle_of_selection()));
  find("pan-left").addEventListener("click", () => pan(-0.3));
  find("pan-right").addEventListener("click", () => pan(0.3));
  find("zoom-all").addEventListener("click", () => showWindow(0, data.timeline.length));
  const choice = find("step-choice");
  for (const [number] of data.timeline.steps) choice.append(element("option", { value: number }, String(number)));
  choice.value = data.timeline.steps[data.timeline.steps.length - 1][0];
  choice.addEventListener("change", () => {
    const [, begin, end] = data.timeline.steps.find(([number]) => number === Number(choice.value));
    showWindow(begin, end);
  });
}

function timelineLegend() {
  const used = new Set(instructions.map((what) => what.work));
  const legend = find("timeline-legend");
  legend.replaceChildren();
  for (const [work, { label }] of Object.entries(works)) {
    if (work !== "idle" && !used.has(work)) continue;
    const swatch = element("canvas", { width: 26, height: 14, "aria-hidden": "true" });
    const context = swatch.getContext("2d");
    context.fillStyle = fillOf(context, work, theme());
    context.fillRect(0, 0, 26, 14);
    legend.append(element("li", {}, swatch, label));
  }
  const passes = instructions.filter((what) => what.micro_batch > 0 && (what.work === "forward" || what.work === "backward"));
  if (passes.length === 0) return;
  const chunk = passes.some((what) => what.chunk > 0) ? ", c1: of chunk 1" : "";
  legend.append(element("li", {}, `F1, B1: forward and backward pass of micro-batch 1${chunk}`));
}

function startTimeline() {
  const chart = find("timeline-chart");
  chart.addEventListener("keydown", timelineKeys);
  chart.addEventListener("wheel", timelineWheel, { passive: false });
  startPointers(chart);
  startTools();
  const last = data.timeline.steps[data.timeline.steps.length - 1];
  [state.begin, state.end] = [last[1], last[2]];
  let asked = false;  // one picture for all changes until the next frame
  listeners.push(() => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; drawTimeline(); });
  });
}
)js"
