R"js(
// --- loss beside the baseline

const loss_panel = {
  steps: data.steps.step, losses: data.steps.loss,
  baseline: new Map(data.baseline ? data.baseline.steps.step.map((step, i) => [step, data.baseline.steps.loss[i]]) : []),
  chosen: data.steps.step.length - 1,
};

function lossFrame(width) {
  const { steps, losses, baseline } = loss_panel;
  const others = [...baseline].filter(([, loss]) => loss !== null);
  const all_steps = [...steps, ...others.map(([step]) => step)];
  const all = [...losses, ...others.map(([, loss]) => loss)].filter((loss) => loss !== null);
  if (all.length === 0) all.push(0, 1);  // none is finite
  let least = all.reduce((a, b) => Math.min(a, b));
  let most = all.reduce((a, b) => Math.max(a, b));
  // A thousandth of the loss, so that of losses that are the same the axis has no digits that nobody needs.
  const margin = Math.max((most - least) * 0.06, Math.abs(most) * 1e-3) || 1e-3;
  [least, most] = [least - margin, most + margin];
  const first = all_steps.reduce((a, b) => Math.min(a, b));
  const last = Math.max(all_steps.reduce((a, b) => Math.max(a, b)), first + 1);
  const frame = { left: 52, right: width - 12, top: 10, bottom: 216, first, last, least, most };
  frame.x = (step) => frame.left + (step - first) / (last - first) * (frame.right - frame.left);
  frame.y = (loss) => frame.bottom - (loss - least) / (most - least) * (frame.bottom - frame.top);
  return frame;
}

function lossAxes(svg, frame) {
  const by = roundStep(frame.most - frame.least, 5);
  const digits = Math.max(0, -Math.floor(Math.log10(by)));
  for (let loss = Math.ceil(frame.least / by) * by; loss <= frame.most; loss += by) {
    svg.append(shape("path", { class: "rule", d: `M${frame.left} ${frame.y(loss)}H${frame.right}` }),
               shape("text", { x: frame.left - 6, y: frame.y(loss) + 4, "text-anchor": "end" }, loss.toFixed(digits)));
  }
  const step_by = Math.max(1, roundStep(frame.last - frame.first, Math.max(2, (frame.right - frame.left) / 70)));
  const last = loss_panel.steps.length > 1 || loss_panel.baseline.size > 1 ? frame.last : frame.first;
  for (let step = Math.ceil(frame.first / step_by) * step_by; step <= last; step += step_by)
    svg.append(shape("path", { class: "axis", d: `M${frame.x(step)} ${frame.bottom}v4` }),
               shape("text", { x: frame.x(step), y: frame.bottom + 17, "text-anchor": "middle" }, String(step)));
  svg.append(shape("path", { class: "axis", d: `M${frame.left} ${frame.top}V${frame.bottom}H${frame.right}` }),
             shape("text", { x: (frame.left + frame.right) / 2, y: frame.bottom + 33, "text-anchor": "middle", class: "quiet" },
                   "step; loss in nats a token"));
}

const pathThrough = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** The run is a line with discs; the baseline, wider and below it, is dashed with open squares. */
function lossLines(svg, frame) {
  const points = loss_panel.steps.map((step, i) => [step, loss_panel.losses[i]]).filter(([, loss]) => loss !== null)
    .map(([step, loss]) => [frame.x(step), frame.y(loss)]);
  const others = [...loss_panel.baseline].filter(([, loss]) => loss !== null)
    .map(([step, loss]) => [frame.x(step), frame.y(loss)]);
  const every = Math.max(1, Math.ceil(Math.max(points.length, others.length) / ((frame.right - frame.left) / 14)));
  const marked = (list) => list.filter((_, i) => i % every === 0 || i === list.length - 1);
  if (others.length) {
    svg.append(shape("path", { d: pathThrough(others), fill: "none", stroke: "#e69f00", "stroke-width": 5, "stroke-dasharray": "10 5" }));
    for (const [x, y] of marked(others))
      svg.append(shape("rect", { x: x - 5, y: y - 5, width: 10, height: 10, fill: "none", stroke: "#e69f00", "stroke-width": 2 }));
  }
  svg.append(shape("path", { d: pathThrough(points), fill: "none", stroke: "#1f83c4", "stroke-width": 2 }));
  for (const [x, y] of marked(points)) svg.append(shape("circle", { cx: x, cy: y, r: 3, fill: "#1f83c4" }));
}

function lossDetail() {
  const i = loss_panel.chosen;
  const step = loss_panel.steps[i];
  const parts = [`step ${step}: loss ${loss_panel.losses[i]}`];
  const other = loss_panel.baseline.get(step);
  if (other !== undefined && other !== null)
    parts.push(`baseline ${other}`, `difference ${(loss_panel.losses[i] - other).toExponential(1)}`);
  parts.push(`gradient norm ${short(data.steps.grad_norm[i] ?? NaN)}`, `ended at ${secondsText(data.steps.virtual_seconds[i])}`);
  find("loss-detail").textContent = parts.join(", ");
}

function drawLoss() {
  const chart = find("loss-chart");
  const width = chart.clientWidth;
  const frame = loss_panel.frame = lossFrame(width);
  const svg = shape("svg", { width, height: 254, viewBox: `0 0 ${width} 254`, "aria-hidden": "true" });
  lossAxes(svg, frame);
  lossLines(svg, frame);
  const x = frame.x(loss_panel.steps[loss_panel.chosen]);
  svg.append(shape("path", { class: "cursor", d: `M${x} ${frame.top}V${frame.bottom}` }));
  chart.replaceChildren(svg);
  lossDetail();
}

function chooseStep(index) {
  loss_panel.chosen = Math.min(Math.max(index, 0), loss_panel.steps.length - 1);
  drawLoss();
}

function lossKeys(event) {
  const last = loss_panel.steps.length - 1;
  const to = { ArrowLeft: loss_panel.chosen - 1, ArrowRight: loss_panel.chosen + 1, Home: 0, End: last,
               PageUp: loss_panel.chosen - 10, PageDown: loss_panel.chosen + 10 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  chooseStep(to);
}

function lossPointer(event) {
  const { frame, steps } = loss_panel;
  const x = event.clientX - find("loss-chart").getBoundingClientRect().left;
  const step = frame.first + (x - frame.left) / (frame.right - frame.left) * (frame.last - frame.first);
  let nearest = 0;
  for (let i = 0; i < steps.length; ++i) if (Math.abs(steps[i] - step) < Math.abs(steps[nearest] - step)) nearest = i;
  if (nearest !== loss_panel.chosen) chooseStep(nearest);
}

const most_rows = 1000;
function fillLossTable() {
  const every = Math.ceil(loss_panel.steps.length / most_rows);
  const heads = ["step", "loss", ...(data.baseline ? ["baseline"] : []), "gradient norm", "virtual time"];
  const rows = loss_panel.steps.map((step, i) => [
    step, loss_panel.losses[i], ...(data.baseline ? [loss_panel.baseline.get(step) ?? ""] : []),
    short(data.steps.grad_norm[i] ?? NaN), secondsText(data.steps.virtual_seconds[i])]);
  fillTable(find("loss-table"), heads, rows.filter((_, i) => i % every === 0 || i === rows.length - 1));
}

function startLoss() {
  const line = (attributes, mark) => {
    const svg = shape("svg", { viewBox: "0 0 26 14", "aria-hidden": "true" });
    svg.append(shape("path", { d: "M0 7H26", fill: "none", ...attributes }), mark);
    return svg;
  };
  const disc = shape("circle", { cx: 13, cy: 7, r: 3, fill: "#1f83c4" });
  const legend = [element("li", {}, line({ stroke: "#1f83c4", "stroke-width": 2 }, disc), "this run")];
  if (data.baseline)
    legend.push(element("li", {}, line({ stroke: "#e69f00", "stroke-width": 4, "stroke-dasharray": "7 4" },
      shape("rect", { x: 8, y: 2, width: 10, height: 10, fill: "none", stroke: "#e69f00", "stroke-width": 2 })), `baseline: ${data.baseline.name}`));
  find("loss-legend").append(...legend);
  find("loss-says").textContent = data.baseline ? "" :
    "There is no baseline: --baseline FILE.json shows another run's losses, as --json wrote them, beside these.";
  const chart = find("loss-chart");
  chart.addEventListener("keydown", lossKeys);
  chart.addEventListener("pointermove", lossPointer);
  chart.addEventListener("pointerdown", lossPointer);
  fillLossTable();
}
)js"
