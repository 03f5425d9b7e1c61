"use strict";
document.documentElement.classList.add("js");

// One row of `rows`: data set, entrant, size, then [median, least, most] of each measure, null where there is none.
const data = JSON.parse(document.getElementById("data").textContent);
const form = document.getElementById("choose"), field = (name) => form.elements[name];
const chart = document.getElementById("chart"), tip = document.getElementById("tip");
const table = document.getElementById("values");
const defaults = { data: data.datasets[0].name, y: "", x: "", size: "", colour: "method", find: "", front: "", sort: "y" };
let sort = defaults.sort, before = "all"; // the data set shown before

const shown = (value) => value === null ? "" : Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 || value === 0
  ? String(Number(value.toPrecision(4))) : value.toExponential(2);
const short = (tick) => shown(tick).replace(/\.?0+e/, "e"); // of an axis
const option = (select, entries, wanted) => {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  select.value = entries.some(([value]) => value === wanted) ? wanted : entries[0][0];
};
const rowsOf = (name) => {
  const place = data.datasets.findIndex((entry) => entry.name === name);
  return data.rows.filter((row) => row[0] === place);
};
const place = (measure) => measure === "m" ? 2 : 3 + data.measures.findIndex((entry) => entry.name === measure);
const valueOf = (row, measure) => {
  if (measure === "m") return row[2];
  const found = row[place(measure)];
  return found ? found[0] : null;
};

// Offer the measures and sizes that the chosen data set has; keep those chosen before.
const offer = (wanted) => {
  const rows = rowsOf(field("data").value);
  const measures = data.measures.filter((entry) => rows.some((row) => valueOf(row, entry.name) !== null));
  const entries = measures.map((entry) => [entry.name, entry.label]);
  option(field("y"), entries, wanted.y || entries[0][0]);
  const cost = ["runtime", "time"].find((name) => measures.some((entry) => entry.name === name)) ?? "m";
  option(field("x"), [...entries, ["m", "size m"]], wanted.x || cost);
  const sizes = [...new Set(rows.map((row) => row[2]).filter((size) => size !== null))].sort((a, b) => a - b);
  // Over all data sets, times are relative to one of the same size: sizes are not to be mixed.
  const mixed = field("data").value === "all" ? [] : [["", "all"]];
  option(field("size"), [...mixed, ...sizes.map((size) => [String(size), String(size)])], wanted.size);
  if (!mixed.length && !sizes.map(String).includes(wanted.size)) field("size").value = sizes[Math.floor(sizes.length / 2)];
};

const state = () => ({ ...Object.fromEntries(["data", "y", "x", "size", "colour", "find", "front"].map((name) => [name, field(name).value.trim()])), sort });
const remember = () => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(state())) if (value && value !== defaults[name]) query.set(name, value);
  const text = query.toString();
  try { history.replaceState(null, "", (text ? `?${text}` : location.pathname) + location.hash); } catch { /* files in some browsers */ }
};

const better = (measure) => measure !== "m" && data.measures[place(measure) - 3].more ? -1 : 1;
const chosen = () => {
  const { data: name, y, x, size, find, front } = state();
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  let rows = rowsOf(name).filter((row) => {
    const entrant = data.entrants[row[1]];
    return (size === "" || row[2] === null || String(row[2]) === size)
      && words.every((word) => `${entrant.name} ${entrant.label}`.toLowerCase().includes(word))
      && valueOf(row, y) !== null;
  });
  const [up, across] = [better(y), better(x)];
  const best = new Set(rows.filter((row) => valueOf(row, x) !== null && !rows.some((other) => {
    if (valueOf(other, x) === null) return false;
    const dy = up * (valueOf(other, y) - valueOf(row, y)), dx = across * (valueOf(other, x) - valueOf(row, x));
    return dy <= 0 && dx <= 0 && (dy < 0 || dx < 0);
  })));
  if (front) rows = rows.filter((row) => best.has(row));
  return { rows, best };
};

const svg = (name, attributes, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
};
const scale = (values, log, from, to) => {
  const positive = values.filter((value) => value > 0);
  const logarithmic = log && positive.length > 0;
  const turn = logarithmic ? (value) => Math.log10(Math.max(value, Math.min(...positive) / 2)) : (value) => value;
  const turned = values.map(turn);
  let low = Math.min(...turned), high = Math.max(...turned);
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  low -= margin; high += margin;
  const at = (value) => from + (to - from) * (turn(value) - low) / (high - low);
  const ticks = [];
  if (logarithmic) {
    const factors = high - low > 2.5 ? [1] : high - low > 0.7 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
    for (let power = Math.floor(low); power <= high; power++) for (const factor of factors) ticks.push(factor * 10 ** power);
  }
  const inside = ticks.filter((tick) => Math.log10(tick) >= low && Math.log10(tick) <= high);
  if (inside.length >= 2) return { at, ticks: inside };
  const [start, end] = logarithmic ? [10 ** low, 10 ** high] : [low, high];
  const step = 10 ** Math.floor(Math.log10((end - start) / 3)), wide = (end - start) / step > 8 ? 2 * step : step;
  return { at, ticks: Array.from({ length: 12 }, (_, number) => (Math.ceil(start / wide) + number) * wide).filter((tick) => tick <= end) };
};

const told = (row) => {
  const entrant = data.entrants[row[1]];
  const lines = [entrant.label + (row[2] === null ? "" : `, m = ${row[2]}`)];
  data.measures.forEach((measure, number) => {
    const found = row[3 + number];
    if (found) lines.push(`${measure.label}: ${shown(found[0])}${found[1] === found[2] ? "" : ` (${shown(found[1])} to ${shown(found[2]) || "\u221e"})`}`);
  });
  return lines.join("\n");
};
const show = (row, node) => {
  tip.textContent = told(row);
  tip.hidden = false;
  const box = chart.parentElement.getBoundingClientRect(), point = node.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(point.left - box.left + 14, box.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(point.top - box.top + 14, box.height - tip.offsetHeight - 4))}px`;
};
const hide = () => { tip.hidden = true; };

const colourOf = (row, by) => {
  const entrant = data.entrants[row[1]];
  return by === "selector" ? data.selectors[entrant.selector] ?? "#777777" : entrant.color;
};
const label = (measure) => measure === "m" ? "size m" : data.measures[place(measure) - 3].label;
const isLog = (measure) => measure === "m" || data.measures[place(measure) - 3].log;

const draw = (rows, best) => {
  const { x, y, colour } = state();
  const points = rows.filter((row) => valueOf(row, x) !== null);
  const width = chart.clientWidth || 800, height = chart.clientHeight || 400;
  chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
  chart.replaceChildren();
  hide();
  if (!points.length) {
    chart.append(svg("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "nothing to show"));
    return;
  }
  const left = 74, bottom = height - 44;
  const across = scale(points.map((row) => valueOf(row, x)), isLog(x), left, width - 14);
  const up = scale(points.map((row) => valueOf(row, y)), isLog(y), bottom, 12);
  const every = Math.ceil(across.ticks.length * 52 / (width - left));
  across.ticks.forEach((tick, number) => {
    const at = across.at(tick);
    chart.append(svg("line", { x1: at, x2: at, y1: 12, y2: bottom }));
    if (number % every === 0) chart.append(svg("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, short(tick)));
  });
  for (const tick of up.ticks) {
    const at = up.at(tick);
    chart.append(svg("line", { x1: left, x2: width - 14, y1: at, y2: at }), svg("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, short(tick)));
  }
  chart.append(svg("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, label(x)),
    svg("text", { x: 14, y: bottom / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${bottom / 2})` }, label(y)));
  const line = (list) => list.map((row) => `${across.at(valueOf(row, x))},${up.at(valueOf(row, y))}`).join(" ");
  const front = points.filter((row) => best.has(row)).sort((a, b) => valueOf(a, x) - valueOf(b, x));
  chart.append(svg("polyline", { class: "front", points: line(front) }));
  for (const row of points) {
    const node = svg("circle", { cx: across.at(valueOf(row, x)), cy: up.at(valueOf(row, y)), r: best.has(row) ? 7 : 5, fill: colourOf(row, colour), tabindex: 0, role: "img", "aria-label": told(row) });
    for (const kind of ["pointerenter", "focus", "click"]) node.addEventListener(kind, () => show(row, node));
    for (const kind of ["pointerleave", "blur"]) node.addEventListener(kind, hide);
    chart.append(node);
  }
};

const legend = (rows, colour) => {
  const entries = new Map();
  for (const row of rows) {
    const entrant = data.entrants[row[1]];
    entries.set(colour === "selector" ? entrant.selector || "no selector" : entrant.method, colourOf(row, colour));
  }
  document.getElementById("legend").replaceChildren(...[...entries].sort().map(([name, fill]) => {
    const item = document.createElement("span"), mark = svg("svg", { width: 12, height: 12, "aria-hidden": true });
    mark.append(svg("circle", { cx: 6, cy: 6, r: 5, fill }));
    item.append(mark, ` ${name}`);
    return item;
  }));
};

const fill = (rows, best) => {
  const { y } = state();
  const columns = [["entrant", "method / selector"], ["m", "m"], ...data.measures.filter((entry) => rows.some((row) => valueOf(row, entry.name) !== null)).map((entry) => [entry.name, entry.label])];
  const [down, by] = [sort.startsWith("-"), sort.replace("-", "")];
  const key = (row) => by === "entrant" ? data.entrants[row[1]].name : valueOf(row, by === "y" ? y : by);
  const order = [...rows].sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    if ((left === null) !== (right === null)) return left === null ? 1 : -1;
    return (down ? -1 : 1) * (typeof left === "string" ? left.localeCompare(right) : left - right) || a[1] - b[1];
  });
  const head = document.createElement("tr");
  for (const [name, text] of columns) {
    const cell = document.createElement("th"), button = document.createElement("button");
    const mine = by === name || (by === "y" && name === y);
    cell.scope = "col";
    if (name !== "entrant") cell.className = "number";
    if (mine) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => { sort = mine && !down ? `-${name}` : name; update(); });
    cell.append(button);
    head.append(cell);
  }
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...order.map((row) => {
    const line = document.createElement("tr");
    for (const [name] of columns) {
      const cell = document.createElement("td");
      cell.textContent = name === "entrant" ? data.entrants[row[1]].label + (best.has(row) ? " \u2605" : "") : shown(valueOf(row, name));
      if (name !== "entrant") cell.className = "number";
      line.append(cell);
    }
    return line;
  }));
};

const update = () => {
  const { rows, best } = chosen(), all = rowsOf(field("data").value).length;
  draw(rows, best);
  legend(rows, field("colour").value);
  fill(rows, best);
  const about = data.datasets.find((entry) => entry.name === field("data").value);
  document.getElementById("count").textContent = `${rows.length} of ${all} rows; \u2605 on the front of the two measures; ${about.about}`;
  remember();
};

option(field("data"), data.datasets.map((entry) => [entry.name, entry.label]), "");
const query = new URLSearchParams(location.search), asked = Object.fromEntries(Object.keys(defaults).map((name) => [name, query.get(name) ?? defaults[name]]));
for (const name of ["data", "colour", "front", "find"]) {
  field(name).value = asked[name];
  if (field(name).selectedIndex === -1) field(name).selectedIndex = 0; // an address may name what is not there
}
sort = asked.sort;
offer(asked);
update();
form.addEventListener("input", (event) => {
  if (event.target.name === "data") {
    sort = "y";
    offer({ ...state(), size: before === "all" ? "" : state().size });
  }
  before = field("data").value;
  update();
});
form.addEventListener("reset", () => setTimeout(() => { field("data").selectedIndex = 0; sort = "y"; offer(defaults); update(); }));
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("resize", update);
