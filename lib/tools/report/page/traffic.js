R"js(
// --- traffic: row sends to column

const traffic_panel = { row: 0, column: 0, groups: 0, of_group: 1, cells: [] };
const most_columns = 64;  // of more ranks, a row and a column stand for several

function fillTraffic() {
  const ranks = data.ranks.length;
  const panel = traffic_panel;
  const per_node = data.cluster.devices_per_node < ranks ? data.cluster.devices_per_node : 1;
  if (ranks > most_columns) panel.of_group = Math.max(per_node, Math.ceil(ranks / most_columns));
  panel.groups = Math.ceil(ranks / panel.of_group);
  panel.cells = Array.from({ length: panel.groups }, () => Array.from({ length: panel.groups }, () => ({ bytes: 0, messages: 0 })));
  for (const { rank, sent_to } of data.ranks)
    for (const to of sent_to) {
      const cell = panel.cells[Math.floor(rank / panel.of_group)][Math.floor(to.rank / panel.of_group)];
      cell.bytes += to.bytes;
      cell.messages += to.messages;
    }
  panel.most = panel.cells.flat().reduce((most, cell) => Math.max(most, cell.bytes), 0);
  panel.least = panel.cells.flat().reduce((least, cell) => (cell.bytes ? Math.min(least, cell.bytes) : least), panel.most);
}

function groupName(group) {
  const { of_group } = traffic_panel;
  const last = Math.min((group + 1) * of_group, data.ranks.length) - 1;
  return of_group === 1 ? `rank ${group}` : `ranks ${group * of_group} to ${last}`;
}
const crossesNodes = (row, column) => nodeOf(row * traffic_panel.of_group) !== nodeOf(column * traffic_panel.of_group);

/** 0.3 to 1, by the logarithm of the bytes. */
function weightOf(bytes) {
  const { least, most } = traffic_panel;
  return most === least ? 1 : 0.3 + 0.7 * Math.log(bytes / least) / Math.log(most / least);
}

function trafficFrame() {
  const width = find("traffic-chart").clientWidth;
  const left = 42;
  const cell = Math.min(46, Math.max(4, (width - left - 4) / traffic_panel.groups));
  return { width, left, top: 52, cell, x: (column) => left + column * cell, y: (row) => 52 + row * cell };
}

/** A square, larger and darker for more bytes; hollow where it crosses nodes. Its bytes stand in it where they fit. */
function trafficCell(svg, frame, row, column) {
  const { bytes } = traffic_panel.cells[row][column];
  if (bytes === 0) return;
  const weight = weightOf(bytes);
  const written = frame.cell >= 33;
  const size = (frame.cell - 2) * (written ? 1 : 0.35 + 0.65 * weight);
  const color = crossesNodes(row, column) ? "213, 94, 0" : "0, 114, 178";
  svg.append(shape("rect", { x: frame.x(column) + (frame.cell - size) / 2, y: frame.y(row) + (frame.cell - size) / 2, width: size, height: size,
                             fill: `rgba(${color}, ${(written ? 0.55 : 0.9) * weight})`, stroke: `rgb(${color})`,
                             "stroke-width": crossesNodes(row, column) ? 2 : 0.7, "data-bytes": bytes }));
  if (!written) return;
  svg.append(shape("text", { x: frame.x(column) + frame.cell / 2, y: frame.y(row) + frame.cell / 2 + 4, "text-anchor": "middle",
                             style: "font-size: 11px" }, bytesNarrow(bytes)));
}

function trafficLabels(svg, frame) {
  const { groups, of_group } = traffic_panel;
  const every = Math.ceil(String(groups * of_group).length * 7.5 / frame.cell);
  for (let i = 0; i < groups; i += every)
    svg.append(shape("text", { x: frame.x(i) + frame.cell / 2, y: frame.top - 6, "text-anchor": "middle" }, String(i * of_group)));
  const every_row = Math.ceil(13 / frame.cell);
  for (let i = 0; i < groups; i += every_row)
    svg.append(shape("text", { x: frame.left - 6, y: frame.y(i) + frame.cell / 2 + 4, "text-anchor": "end" }, String(i * of_group)));
  svg.append(shape("text", { x: frame.left, y: 12, class: "quiet" }, "to rank"), shape("text", { x: 0, y: frame.top - 6, class: "quiet" }, "from"));
}

/** Thick lines where a node ends, if a node is more than one row. */
function trafficNodes(svg, frame) {
  const { groups, of_group } = traffic_panel;
  const end = frame.x(groups);
  const per_node = data.cluster.devices_per_node / of_group;
  for (let i = 0; i <= groups; ++i) {
    const ends = (of_group === 1 || per_node > 1) && nodeOf(i * of_group) !== nodeOf((i - 1) * of_group);
    const border = i === 0 || i === groups || ends;
    const attributes = { class: border ? "axis" : "rule", "stroke-width": border ? 2 : 1 };
    svg.append(shape("path", { ...attributes, d: `M${frame.x(i)} ${frame.top}V${frame.y(groups)}` }),
               shape("path", { ...attributes, d: `M${frame.left} ${frame.y(i)}H${end}` }));
  }
  for (let node = 0; node <= nodeOf(data.ranks.length - 1); ++node)
    if (per_node * frame.cell > 48)
      svg.append(shape("text", { x: frame.x((node + 0.5) * per_node), y: 30, "text-anchor": "middle", style: "font-weight: 600" },
                       `node ${node}`));
}

function trafficDetail() {
  const { row, column } = traffic_panel;
  const cell = traffic_panel.cells[row][column];
  const itself = row === column && traffic_panel.of_group === 1;
  const nodes = traffic_panel.of_group > data.cluster.devices_per_node ? "nodes" : "node";
  const where = itself ? "itself" : `${groupName(column)}, on ${crossesNodes(row, column) ? (nodes === "node" ? "another" : "other") : "the same"} ${nodes}`;
  find("traffic-detail").textContent = `${groupName(row)} to ${where}: ` +
    (cell.messages ? `${bytesText(cell.bytes)} in ${cell.messages} messages` : "nothing");
}

function drawTraffic() {
  const frame = traffic_panel.frame = trafficFrame();
  const height = frame.y(traffic_panel.groups) + 4;
  const svg = shape("svg", { width: frame.width, height, viewBox: `0 0 ${frame.width} ${height}`, "aria-hidden": "true" });
  trafficNodes(svg, frame);
  for (let row = 0; row < traffic_panel.groups; ++row)
    for (let column = 0; column < traffic_panel.groups; ++column) trafficCell(svg, frame, row, column);
  trafficLabels(svg, frame);
  svg.append(shape("rect", { id: "traffic-cursor", width: frame.cell, height: frame.cell, fill: "none", stroke: "currentColor", "stroke-width": 3 }));
  find("traffic-chart").replaceChildren(svg);
  moveTrafficCursor();
}

function moveTrafficCursor() {
  const { frame, row, column } = traffic_panel;
  find("traffic-cursor").setAttribute("x", frame.x(column));
  find("traffic-cursor").setAttribute("y", frame.y(row));
  trafficDetail();
}

function chooseCell(row, column) {
  const last = traffic_panel.groups - 1;
  traffic_panel.row = Math.min(Math.max(row, 0), last);
  traffic_panel.column = Math.min(Math.max(column, 0), last);
  moveTrafficCursor();
}

function trafficKeys(event) {
  const { row, column } = traffic_panel;
  const to = { ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
               Home: [row, 0], End: [row, traffic_panel.groups - 1] }[event.key];
  if (!to) return;
  event.preventDefault();
  chooseCell(...to);
}

function trafficPointer(event) {
  const { frame, groups } = traffic_panel;
  const box = find("traffic-chart").getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left - frame.left) / frame.cell);
  const row = Math.floor((event.clientY - box.top - frame.top) / frame.cell);
  if (row >= 0 && column >= 0 && row < groups && column < groups) chooseCell(row, column);
}

const most_pairs = 500;
function fillTrafficTable() {
  const pairs = data.ranks.flatMap(({ rank, sent_to }) =>
    sent_to.map((to) => ({ from: rank, to: to.rank, bytes: to.bytes, messages: to.messages })));
  pairs.sort((a, b) => b.bytes - a.bytes || a.from - b.from || a.to - b.to);
  fillTable(find("traffic-table"), ["from", "to", "bytes", "messages"],
            pairs.slice(0, most_pairs).map((pair) => [pair.from, pair.to, bytesText(pair.bytes), pair.messages]));
  if (pairs.length > most_pairs) find("traffic-table").append(element("caption", {}, `The first ${most_pairs} of ${pairs.length} pairs.`));
}

function startTraffic() {
  fillTraffic();
  const total = traffic_panel.cells.flat().reduce((sum, cell) => sum + cell.bytes, 0);
  const between = data.ranks.reduce((sum, rank) => sum + rank.sent.inter_node_bytes, 0);
  find("traffic-says").textContent = total === 0 ? "Nothing was sent: there is one device." :
    `${bytesText(total)} in the whole run, ${bytesText(between)} of it between nodes (orange with a thick border; blue is ` +
    "within a node). K is 1024 bytes, M 1024 K.";
  if (traffic_panel.of_group > 1) find("traffic-says").textContent += ` Each row and column stands for ${traffic_panel.of_group} ranks.`;
  const chart = find("traffic-chart");
  for (const one of [chart, find("traffic-detail"), find("traffic-pairs")]) one.hidden = data.ranks.length === 1;
  chart.addEventListener("keydown", trafficKeys);
  chart.addEventListener("pointermove", trafficPointer);
  chart.addEventListener("pointerdown", trafficPointer);
  fillTrafficTable();
  listeners.push((what) => { if (what === "rank") chooseCell(Math.floor(state.rank / traffic_panel.of_group), traffic_panel.column); });
}
)js"
