R"js(
// --- how kinds of work look: a colour that the colour-blind can tell from the others, and a pattern

const works = {
  forward: { color: "#56b4e9", pattern: "", label: "forward" },
  backward: { color: "#e69f00", pattern: "falling", label: "backward" },
  optimizer: { color: "#2fa37c", pattern: "dots", label: "optimizer" },
  compute: { color: "#b9bfc8", pattern: "", label: "other compute" },
  communication: { color: "#cc79a7", pattern: "upright", label: "collective" },
  send: { color: "#d55e00", pattern: "", label: "send" },
  receive: { color: "", pattern: "upright", label: "waiting for a message" },
  wait: { color: "", pattern: "level", label: "waiting for a collective" },
  step: { color: "#b9bfc8", pattern: "", label: "step" },
  idle: { color: "", pattern: "rising", label: "bubble: nothing computed" },
};

function drawPattern(context, pattern, size) {
  const line = (x1, y1, x2, y2) => { context.beginPath(); context.moveTo(x1, y1); context.lineTo(x2, y2); context.stroke(); };
  if (pattern === "falling") for (const by of [-size, 0, size]) line(by, 0, by + size, size);
  if (pattern === "rising") for (const by of [-size, 0, size]) line(by, size, by + size, 0);
  if (pattern === "level") line(0, size / 2, size, size / 2);
  if (pattern === "upright") line(size / 2, 0, size / 2, size);
  if (pattern === "dots") { context.beginPath(); context.arc(size / 2, size / 2, 1.1, 0, 7); context.fill(); }
}

/** The fill of a kind of work on `context`. */
function fillOf(context, work, colors) {
  const { color, pattern } = works[work];
  if (!pattern) return color;
  const size = 6;
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const paint = tile.getContext("2d");
  paint.fillStyle = color || colors.idle;
  paint.fillRect(0, 0, size, size);
  paint.strokeStyle = paint.fillStyle = color ? "#0000004d" : colors.hatch;
  paint.lineWidth = 1;
  drawPattern(paint, pattern, size);
  return context.createPattern(tile, "repeat");
}

/** What one picture of the timeline needs: where time is on it, and its fills. */
function makeBrush(context, colors, frame) {
  const fills = {};
  for (const work of Object.keys(works)) fills[work] = fillOf(context, work, colors);
  const per_tick = (frame.right - frame.left) / (state.end - state.begin);
  const widths = new Map();
  return {
    context, colors, frame, fills,
    x: (time) => Math.min(Math.max(frame.left + (time - state.begin) * per_tick, frame.left), frame.right),
    width(text) {
      if (!widths.has(text)) widths.set(text, context.measureText(text).width);
      return widths.get(text);
    },
  };
}

/** The longest of what can be said of an instruction in `room` pixels; what lies inside another is not numbered again. */
function fittingLabel(brush, what, depth, room) {
  const batch = what.micro_batch >= 0 ? String(what.micro_batch) : "";
  const pass = { forward: "F", backward: "B" }[what.work];
  const chunk = what.chunk > 0 ? ` c${what.chunk}` : "";
  const candidates = [(batch ? `${what.name} · ${batch}` : what.name) + chunk];
  if (pass && batch && depth === 0) candidates.push(pass + batch + chunk);
  return candidates.find((text) => brush.width(text) <= room) ?? "";
}

/** Where box `i` of a lane begins below the lane's top: boxes inside others leave those a strip. */
function levelTop(lane, depth, height) {
  const strips = Math.min(lane.levels, 4);
  return Math.min(depth, strips - 1) * Math.min(15, height / (strips + 0.6));
}

function drawLane(brush, lane, top, height) {
  const { context } = brush;
  const last_column = [];
  const labels = [];
  for (let i = 0; i < lane.count && lane.begin[i] < state.end; ++i) {
    if (lane.end[i] <= state.begin) continue;
    const what = instructions[lane.what[i]];
    const left = brush.x(lane.begin[i]);
    const width = Math.max(brush.x(lane.end[i]) - left, 0.6);
    const depth = lane.depth[i];
    if (width < 1) {  // of boxes within a column of pixels the first stands for all
      if (last_column[depth] === Math.floor(left)) continue;
      last_column[depth] = Math.floor(left);
    }
    const y = top + levelTop(lane, depth, height);
    context.fillStyle = brush.fills[what.work];
    context.fillRect(left, y, width, top + height - y);
    if (width < 4) continue;
    context.strokeStyle = brush.colors.page;
    context.strokeRect(left + 0.5, y + 0.5, width - 1, top + height - y - 1);
    const inner = i + 1 < lane.count && lane.depth[i + 1] > depth;
    const room = inner ? levelTop(lane, depth + 1, height) - levelTop(lane, depth, height) : top + height - y;
    if (room >= 10 && width >= 12) labels.push([what, depth, left, width, y + Math.min(room, 26) / 2]);
  }
  drawLabels(brush, labels);
}

function drawLabels(brush, labels) {
  const { context } = brush;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const [what, depth, left, width, middle] of labels) {
    const text = fittingLabel(brush, what, depth, width - 3);
    if (!text) continue;
    const { color, pattern } = works[what.work];
    if (pattern) {  // which would cut through the letters
      context.fillStyle = color || brush.colors.idle;
      context.fillRect(left + width / 2 - brush.width(text) / 2 - 1, middle - 5, brush.width(text) + 2, 10);
    }
    context.fillStyle = color ? "#111" : brush.colors.text;
    context.fillText(text, left + width / 2, middle);
  }
}
)js"
