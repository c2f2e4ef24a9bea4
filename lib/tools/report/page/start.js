R"js(
// --- start, and anew whenever the page's width or colours change

function drawAll() {
  drawLoss();
  timelineLegend();
  drawTimeline();
  drawMemory();
  drawTraffic();
}

startLoss();
startLayout();
startTimeline();
startMemory();
startTraffic();
drawAll();

let width_drawn = document.documentElement.clientWidth;
new ResizeObserver(() => {
  if (document.documentElement.clientWidth === width_drawn) return;
  width_drawn = document.documentElement.clientWidth;
  drawAll();
}).observe(document.documentElement);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
const forPaper = (on) => {
  document.documentElement.classList.toggle("printing", on);
  drawAll();
};
window.addEventListener("beforeprint", () => forPaper(true));
window.addEventListener("afterprint", () => forPaper(false));

/** Where the longest instruction of a kind in a rank's compute lane is, in pixels of the chart. */
function placeOf(work, rank) {
  const lane = lanes[rank].compute;
  const frame = timelineFrame();
  const index = [...lane.begin.keys()].filter((i) => instructions[lane.what[i]].work === work)
    .reduce((best, i) => (lane.end[i] - lane.begin[i] > lane.end[best] - lane.begin[best] ? i : best));
  const middle = (lane.begin[index] + lane.end[index]) / 2;
  return { x: frame.left + (middle - state.begin) / (state.end - state.begin) * (frame.right - frame.left),
           y: rowTop(frame, rank) + levelTop(lane, lane.depth[index], planOf(frame, rank).compute.height) + 2, index };
}

// For the browser's console, and for tests.
window.shardlings = { data, state, idleShare, drawTimeline, chooseCell, placeOf };
document.documentElement.dataset.ready = "yes";
)js"
