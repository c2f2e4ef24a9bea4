R"js(
// --- the timeline: a row for each rank, over the same time

const most_ranks = 64;  // rows at once; of more ranks, those around the chosen one
const axis_height = 26;
const label_font = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

const lane_exists = Object.fromEntries(lane_names.map((name) => [name, lanes.some((rank) => rank[name].count > 0)]));

/** Heights of a row's lanes and where they begin, in pixels; `scale` is 1 where there is room for labels inside of labels. */
function rowPlan(scale) {
  const compute = Math.round(40 * scale);
  const sends = lane_exists.sends ? Math.max(3, Math.round(6 * scale)) : 0;
  const communication = lane_exists.communication ? Math.max(7, Math.round(18 * scale)) : 0;
  const gap = scale > 0.6 ? 8 : 4;
  return { compute: { top: 0, height: compute }, sends: { top: compute, height: sends },
           communication: { top: compute + sends, height: communication }, height: compute + sends + communication + gap };
}

function timelineFrame() {
  const width = find("timeline-chart").clientWidth;
  const first = Math.floor(state.rank / most_ranks) * most_ranks;
  const ranks = Math.min(most_ranks, data.ranks.length - first);
  const plan = rowPlan(ranks <= 4 ? 1 : ranks <= 8 ? 0.75 : ranks <= 16 ? 0.55 : 0.45);
  const chosen_plan = rowPlan(1.6);
  return { width, first, ranks, plan, chosen_plan, left: is_phone() ? 34 : 128, right: width - (is_phone() ? 4 : 88), top: axis_height,
           height: axis_height + (ranks - 1) * plan.height + chosen_plan.height + 2 };
}

/** The chosen rank's row is higher than the others. */
const planOf = (frame, rank) => (rank === state.rank ? frame.chosen_plan : frame.plan);
const rowTop = (frame, rank) =>
  frame.top + (rank - frame.first) * frame.plan.height + (rank > state.rank ? frame.chosen_plan.height - frame.plan.height : 0);

function rankAt(frame, y) {
  for (let rank = frame.first; rank < frame.first + frame.ranks; ++rank)
    if (y >= rowTop(frame, rank) && y < rowTop(frame, rank) + planOf(frame, rank).height) return rank;
  return -1;
}

function drawAxis(brush) {
  const { context, frame, colors } = brush;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = colors.quiet;
  if (!is_phone() && data.ranks.length > 1) context.fillText("rank: pp, dp, tp", 8, 9);
  const length = (state.end - state.begin) * tick;
  const by = roundStep(length, Math.max(3, Math.floor((frame.right - frame.left) / 70)));
  context.textAlign = "center";
  context.textBaseline = "middle";
  const begin = timeOf(state.begin);
  for (let n = Math.ceil(begin / by); n * by <= timeOf(state.end); ++n) {
    const x = brush.x((n * by - data.timeline.begin) / tick);
    context.fillStyle = colors.grid;
    context.fillRect(x, frame.top - 5, 1, frame.height);
    context.fillStyle = colors.quiet;
    const text = timeText(n * by, by);
    const half = brush.width(text) / 2;
    context.fillText(text, Math.min(Math.max(x, frame.left + half - 20), frame.width - half - 1), 9);
  }
}

function drawSteps(brush) {
  const { context, frame, colors } = brush;
  context.textAlign = "left";
  for (const [number, begin] of data.timeline.steps) {
    if (begin < state.begin || begin >= state.end) continue;
    const x = brush.x(begin);
    context.fillStyle = colors.text;
    context.fillRect(x, frame.top - 8, 1, frame.height);
  }
}

function rankName(rank) {
  if (is_phone()) return String(rank);
  const at = data.ranks[rank].coordinates;
  return data.ranks.length === 1 ? "rank 0" : `rank ${rank}: ${at.pp}, ${at.dp}, ${at.tp}`;
}

function drawRow(brush, rank) {
  const { context, frame, colors } = brush;
  const plan = planOf(frame, rank);
  const top = rowTop(frame, rank);
  const chosen = rank === state.rank;
  const middle = top + plan.compute.height / 2;
  if (chosen) {
    context.fillStyle = colors.accent;
    context.fillRect(0, top, 4, plan.height - 3);
  }
  context.fillStyle = colors.text;
  context.font = `${chosen ? "bold " : ""}12px ${label_font}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(rankName(rank), 8, middle);
  if (!is_phone()) context.fillText(`${(100 * idleShare(rank, state.begin, state.end)).toFixed(1)} % idle`, frame.right + 6, middle);
  context.font = `11px ${label_font}`;
  context.fillStyle = brush.fills.idle;
  for (const [from, to] of lanes[rank].idle) {
    if (to <= state.begin || from >= state.end) continue;
    context.fillRect(brush.x(from), top, Math.max(brush.x(to) - brush.x(from), 0.5), plan.compute.height);
  }
  for (const name of lane_names)
    if (plan[name].height > 0) drawLane(brush, lanes[rank][name], top + plan[name].top, plan[name].height);
}

function drawSelection(brush) {
  if (!state.selected) return;
  const { rank, lane, index } = state.selected;
  const columns = lanes[rank][lane];
  const { context, frame, colors } = brush;
  if (rank < frame.first || rank >= frame.first + frame.ranks || columns.end[index] < state.begin || columns.begin[index] > state.end) return;
  const place = planOf(frame, rank)[lane];
  const left = brush.x(columns.begin[index]);
  const width = Math.max(brush.x(columns.end[index]) - left, 2);
  const y = rowTop(frame, rank) + place.top + levelTop(columns, columns.depth[index], place.height);
  const height = rowTop(frame, rank) + place.top + place.height - y;
  context.strokeStyle = colors.page;
  context.lineWidth = 5;
  context.strokeRect(left - 1, y - 1, width + 2, height + 2);
  context.strokeStyle = colors.text;
  context.lineWidth = 2.5;
  context.strokeRect(left - 1, y - 1, width + 2, height + 2);
}

function drawTimeline() {
  const frame = timelineFrame();
  const canvas = find("timeline-canvas");
  const scale = Math.max(window.devicePixelRatio || 1, document.documentElement.classList.contains("printing") ? 2 : 1);
  canvas.width = Math.round(frame.width * scale);
  canvas.height = Math.round(frame.height * scale);
  canvas.style.height = frame.height + "px";
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.font = `11px ${label_font}`;
  context.lineWidth = 1;
  const brush = makeBrush(context, theme(), frame);
  drawAxis(brush);
  for (let rank = frame.first; rank < frame.first + frame.ranks; ++rank) drawRow(brush, rank);
  drawSteps(brush);
  drawSelection(brush);
  timelineSays(frame);
}

function timelineSays(frame) {
  const length = (state.end - state.begin) * tick;
  const least = (state.end - state.begin) / 1000;  // devices end a step one after the other, so that steps overlap a little
  const shown = data.timeline.steps.filter(([, begin, end]) => begin < state.end - least && end > state.begin + least)
    .map(([number]) => number);
  const [first, last] = [shown[0], shown[shown.length - 1]];
  const parts = [`${timeText(timeOf(state.begin), length / 1000)} to ${timeText(timeOf(state.end), length / 1000)}` +
    (shown.length === 0 ? "" : first === last ? ` in step ${first}` : ` in steps ${first} to ${last}`)];
  if (data.steps.step.length > data.timeline.steps.length) parts.push("earlier steps are not in this file");
  if (data.timeline.left_out === 1) parts.push("without the messages, which would be too many");
  if (data.timeline.left_out === 2) parts.push("without messages and what lies inside of instructions, which would be too many");
  if (frame.ranks < data.ranks.length)
    parts.push(`ranks ${frame.first} to ${frame.first + frame.ranks - 1}: choose another rank to see its neighbours`);
  find("timeline-says").textContent = parts.join("; ");
}

/** What of the timeline lies at a place: {rank, lane, index}, or with index -1 nothing but time. */
function timelineAt(x, y) {
  const frame = timelineFrame();
  const rank = rankAt(frame, y);
  if (rank < 0 || x < frame.left || x > frame.right) return null;
  const plan = planOf(frame, rank);
  const inside = y - rowTop(frame, rank);
  const per_pixel = (state.end - state.begin) / (frame.right - frame.left);
  const time = state.begin + (x - frame.left) * per_pixel;
  const within = lane_names.find((name) => inside < plan[name].top + plan[name].height);
  for (const lane of within ? [within, "compute"] : ["compute"]) {  // where nothing is sent, what is computed counts
    const index = instructionAt(lanes[rank][lane], time, 2 * per_pixel, inside - plan[lane].top, plan[lane].height);
    if (index >= 0) return { rank, lane, index, time };
  }
  return { rank, lane: "compute", index: -1, time };
}

/** The innermost instruction at a time whose strip reaches up to `y`; else the nearest within `reach`. */
function instructionAt(lane, time, reach, y, height) {
  let inner = -1;
  let nearest = -1;
  let distance = reach;
  for (let i = 0; i < lane.count && lane.begin[i] <= time + reach; ++i) {
    if (lane.begin[i] <= time && time < lane.end[i] && (lane.depth[i] === 0 || levelTop(lane, lane.depth[i], height) <= y)) inner = i;
    const away = Math.max(lane.begin[i] - time, time - lane.end[i]);
    if (away > 0 && away < distance) [nearest, distance] = [i, away];
  }
  return inner >= 0 ? inner : nearest;
}
)js"
