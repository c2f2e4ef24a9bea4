R"js(
// --- the timeline and the memory, decoded

const tick = 1e-12;  // seconds
const timeOf = (ticks) => data.timeline.begin + ticks * tick;

/** Columns of a lane: begin, duration, number of the instruction, and how many others each lies inside. */
function decodeLane(numbers) {
  const count = numbers.length / 3;
  const lane = { begin: new Float64Array(count), end: new Float64Array(count), what: new Uint32Array(count),
                 depth: new Uint8Array(count), count, levels: 1 };
  const open = [];
  let at = 0;
  for (let i = 0; i < count; ++i) {
    at += numbers[3 * i];
    lane.begin[i] = at;
    lane.end[i] = at + numbers[3 * i + 1];
    lane.what[i] = numbers[3 * i + 2];
    while (open.length && (open[open.length - 1] <= at || open[open.length - 1] < lane.end[i])) open.pop();
    lane.depth[i] = open.length;
    lane.levels = Math.max(lane.levels, open.length + 1);
    open.push(lane.end[i]);
  }
  return lane;
}

function decodeSpans(numbers) {
  const spans = [];
  let at = 0;
  for (let i = 0; i < numbers.length; i += 2) {
    at += numbers[i];
    spans.push([at, at + numbers[i + 1]]);
  }
  return spans;
}

const lane_names = ["compute", "sends", "communication"];
const lanes = data.timeline.ranks.map((rank) => ({
  compute: decodeLane(rank.compute), sends: decodeLane(rank.sends),
  communication: decodeLane(rank.communication), idle: decodeSpans(rank.idle),
}));

const instructions = data.timeline.instructions.map(
  ([name, work, micro_batch, peer, bytes, flops, chunk]) => ({ name, work, micro_batch, peer, bytes, flops, chunk }));

/** Every fact of an instruction, in words. */
function instructionText(rank, lane, index) {
  const columns = lanes[rank][lane];
  const what = instructions[columns.what[index]];
  const begin = columns.begin[index];
  const duration = columns.end[index] - begin;
  const parts = [`rank ${rank} (${placeText(rank)}): ${what.name}`];
  if (what.micro_batch >= 0) parts.push(`micro-batch ${what.micro_batch}`);
  if (what.chunk >= 0) parts.push(`chunk ${what.chunk}`);
  if (what.bytes > 0) parts.push(bytesText(what.bytes));
  if (what.peer >= 0) parts.push((what.work === "send" ? "to rank " : "from rank ") + what.peer);
  if (what.flops > 0) parts.push(short(what.flops) + " FLOPs");
  parts.push(`begins at ${timeText(timeOf(begin), Math.max(duration * tick / 100, tick))}`, `takes ${secondsText(duration * tick)}`);
  return parts.join(", ");
}

/** Share of a stretch in which a rank computed nothing. */
function idleShare(rank, begin, end) {
  let idle = 0;
  for (const [from, to] of lanes[rank].idle) idle += Math.max(0, Math.min(to, end) - Math.max(from, begin));
  return idle / (end - begin);
}

const memory_curves = data.memory.ranks.map((numbers) => {
  const stride = data.memory.categories.length + 1;
  const held = new Array(stride).fill(0);
  const points = [];
  for (let i = 0; i < numbers.length; i += stride) {
    for (let k = 0; k < stride; ++k) held[k] += numbers[i + k];
    points.push({ time: held[0], by: held.slice(1), total: held.slice(1).reduce((sum, bytes) => sum + bytes, 0) });
  }
  return points;
});
)js"
