// page.js: the pages of the service.  Data come from the service alone; nothing is asked of other hosts.
"use strict";
const at = id => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";
const MOST_VALUES = 40, MOST_ROWS = 60;

// ---- colors ------------------------------------------------------------------
function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function nameTheme() { at("theme").textContent = dark() ? "Light mode" : "Dark mode"; }
const kept = localStorage.getItem("nami-theme");
if (kept) document.documentElement.dataset.theme = kept;
at("theme").addEventListener("click", () => {
  const next = dark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("nami-theme", next);
  nameTheme();
});
nameTheme();

// ---- asking the service ------------------------------------------------------
function say(text, bad) {
  at("status").textContent = text;
  at("status").className = bad ? "error" : "";
}
async function ask(path, options = {}) {
  const token = sessionStorage.getItem("nami-token");
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = "Bearer " + token;
  const answer = await fetch(path, { ...options, headers });
  if (answer.status === 401) at("access").hidden = false;
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error ? body.error.message : "status " + answer.status);
  at("access").hidden = true;
  return body;
}
at("access").addEventListener("submit", event => {
  event.preventDefault();
  sessionStorage.setItem("nami-token", at("token").value);
  start();
});

// ---- elements ----------------------------------------------------------------
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
function draw(parent, tag, attributes = {}, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
const short = x => x === null || x === undefined ? "" : String(Number(Number(x).toPrecision(4)));

// ---- the list of networks -----------------------------------------------------
async function startIndex() {
  const { networks } = await ask("/networks");
  at("networks").replaceChildren(...networks.map(n => make("li", {},
    make("a", { href: "/networks/" + encodeURIComponent(n.name) }, n.name),
    make("div", { class: "quiet" }, `${n.scalars} scalars, method ${n.method}`))));
  say("");
}

// ---- one network ----------------------------------------------------------------
let about, data, timer, running;

// The place of "x[2,3]" in the data set.
function place(name) {
  const [, variable, list] = /^([^[]*)(?:\[(.*)\])?$/.exec(name);
  return [variable, ...(list ? list.split(",").map(i => Number(i) - 1) : [])];
}
function getValue(set, name) { return place(name).reduce((x, key) => x === undefined ? x : x[key], set); }
function setValue(set, name, value) {
  const path = place(name), last = path.pop();
  const parent = path.reduce((x, key) => x[key], set);
  if (parent && typeof parent === "object") parent[last] = value;
}

function rangeOf(scalar) {
  const p = scalar.prior, v = scalar.value ?? 0;
  let low = p ? p[0] : v - 3 * (Math.abs(v) + 1), high = p ? p[6] : v + 3 * (Math.abs(v) + 1);
  low = Math.min(low, v); high = Math.max(high, v);
  if (!(high > low)) { low -= 1; high += 1; }
  return [low, high];
}
function showValues() {
  for (const row of at("values").children) {
    const value = getValue(data, row.dataset.name);
    for (const input of row.querySelectorAll("input"))
      if (input !== document.activeElement || input.type === "range") input.value = value ?? "";
  }
  if (at("json") !== document.activeElement) at("json").value = JSON.stringify(data);
}
function makeValues() {
  const shown = about.observed.slice(0, MOST_VALUES);
  at("values").replaceChildren(...shown.map((scalar, i) => {
    const [low, high] = rangeOf(scalar), step = scalar.integer ? 1 : "any";
    const slider = make("input", { type: "range", min: low, max: high, step, "aria-label": scalar.name + ", slider" });
    const number = make("input", { type: "number", step, id: "value-" + i });
    for (const input of [slider, number]) input.addEventListener("input", () => {
      if (input.value === "") return;
      setValue(data, scalar.name, Number(input.value));
      showValues();
      later();
    });
    const row = make("div", { class: "value", "data-name": scalar.name },
      make("label", { for: "value-" + i }, scalar.name), slider, number);
    return row;
  }));
  if (about.num_observed > shown.length) {
    at("more").hidden = false;
    at("more").textContent = `and ${about.num_observed - shown.length} more: change them in the JSON below`;
  }
}

// At most one query is under way; the last change wins.
function later() {
  clearTimeout(timer);
  timer = setTimeout(update, 40);
}
async function update() {
  if (running) running.abort();
  const mine = running = new AbortController();
  const path = "/networks/" + encodeURIComponent(about.name);
  const draws = Math.max(10, Math.min(20000, Number(at("draws").value) || 400));
  const options = { method: "POST", body: JSON.stringify(data), signal: mine.signal };
  try {
    const [summary, sample] = await Promise.all([
      ask(`${path}/summary?draws=${draws}`, options), ask(`${path}/draws?draws=${draws}`, options)]);
    if (mine !== running) return;
    say("");
    showPosterior(summary.sets[0], sample.sets[0]);
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

function showVerdict(set) {
  const words = { trusted: "Trusted", care: "With care", no: "Not trusted" };
  const p = at("verdict");
  p.className = "verdict " + set.verdict;
  let text = `${words[set.verdict]}: ${set.reason}`;
  if (set.ood_p !== null && set.ood_p < 0.001) text += ". These data are unlike what the model draws.";
  if (set.log_evidence !== null) text += `. log p(x) = ${short(set.log_evidence)}`;
  if (p.textContent !== text) p.textContent = text;
}

// ---- pictures -------------------------------------------------------------------
function ticks(low, high, most) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough);
  const out = [];
  for (let x = Math.ceil(low / step) * step; x <= high + step * 1e-9; x += step) out.push(Number(x.toPrecision(12)));
  return out;
}
function axis(svg, low, high, to, top, bottom) {
  for (const x of ticks(low, high, svg.viewBox.baseVal.width < 500 ? 4 : 7)) {
    draw(svg, "line", { class: "grid", x1: to(x), x2: to(x), y1: top, y2: bottom });
    draw(svg, "text", { class: "tick", x: to(x), y: bottom + 14, "text-anchor": "middle" }, short(x));
  }
}
// Drawn at the size that it is shown in, so that its text can be read on a phone.
const widthOf = id => Math.max(280, Math.min(900, at(id).clientWidth || 720));
const priorOf = name => (about.latent.find(l => l.name === name) || {}).prior;

function showForest(variables) {
  const rows = Object.entries(variables).slice(0, MOST_ROWS), W = widthOf("forest"), left = 96, right = 12, H = 22;
  let low = Infinity, high = -Infinity;
  for (const [name, s] of rows) {
    const prior = priorOf(name);
    low = Math.min(low, s.q5, prior ? prior[1] : s.q5);
    high = Math.max(high, s.q95, prior ? prior[5] : s.q95);
  }
  if (!(high > low)) { low -= 1; high += 1; }
  const to = x => left + (W - left - right) * (x - low) / (high - low), bottom = rows.length * H + 6;
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${W} ${bottom + 20}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Posterior intervals: " + rows.slice(0, 12).map(([name, s]) =>
    `${name} ${short(s.q50)} (${short(s.q5)} to ${short(s.q95)})`).join("; "));
  axis(svg, low, high, to, 0, bottom);
  rows.forEach(([name, s], i) => {
    const y = i * H + H / 2 + 2, prior = priorOf(name);
    draw(svg, "text", { x: left - 10, y: y + 4, "text-anchor": "end" }, name);
    if (prior) {
      draw(svg, "line", { class: "prior-thin", x1: to(prior[1]), x2: to(prior[5]), y1: y + 5, y2: y + 5 });
      draw(svg, "rect", { class: "prior", x: to(prior[2]), width: Math.max(1, to(prior[4]) - to(prior[2])), y: y + 3, height: 4 });
    }
    draw(svg, "line", { class: "thin", x1: to(s.q5), x2: to(s.q95), y1: y - 2, y2: y - 2 });
    draw(svg, "line", { class: "thick", x1: to(s.q25), x2: to(s.q75), y1: y - 2, y2: y - 2 });
    draw(svg, "circle", { class: "dot", cx: to(s.q50), cy: y - 2, r: 4 });
  });
  at("forest").replaceChildren(svg);
}

// A density: weighted histogram, smoothed.
function density(x, weight, low, high) {
  const n = 80, out = new Array(n).fill(0), width = (high - low) / n;
  const mean = x.reduce((a, v, i) => a + v * weight[i], 0);
  const sd = Math.sqrt(x.reduce((a, v, i) => a + (v - mean) ** 2 * weight[i], 0)) || width;
  const h = Math.max(0.9 * sd * x.length ** -0.2, width / 2);
  for (let i = 0; i < x.length; i++)
    for (let k = 0; k < n; k++) out[k] += weight[i] * Math.exp(-0.5 * ((low + (k + 0.5) * width - x[i]) / h) ** 2) / h;
  return out;
}
function showMarginal(sample) {
  const name = at("variable").value, x = sample.variables[name], prior = priorOf(name);
  if (!x) return;
  const weight = x.map(() => 1 / x.length);
  let low = Math.min(...x), high = Math.max(...x);
  if (prior) { low = Math.min(low, prior[1]); high = Math.max(high, prior[5]); }
  const room = (high - low || 1) * 0.05, W = widthOf("marginal"), H = 190;
  low -= room; high += room;
  const curve = density(x, weight, low, high), top = Math.max(...curve);
  const to = v => 12 + (W - 24) * (v - low) / (high - low), up = d => H - 22 - (H - 34) * d / top;
  const line = curve.map((d, k) => `${to(low + (k + 0.5) * (high - low) / curve.length).toFixed(1)},${up(d).toFixed(1)}`).join(" ");
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Posterior density of ${name}, from ${short(Math.min(...x))} to ${short(Math.max(...x))}`);
  axis(svg, low, high, to, 8, H - 22);
  if (prior) draw(svg, "rect", { class: "prior", x: to(prior[1]), width: to(prior[5]) - to(prior[1]), y: H - 26, height: 4 });
  draw(svg, "polygon", { class: "area", points: `${to(low)},${up(0)} ${line} ${to(high)},${up(0)}` });
  at("marginal").replaceChildren(svg);
}
function showTable(variables) {
  const columns = ["mean", "sd", "q5", "q50", "q95", "ess"];
  const head = make("tr", {}, ...["variable", ...columns].map(c => make("th", { scope: "col" }, c)));
  const rows = Object.entries(variables).slice(0, 500).map(([name, s]) => make("tr", {},
    make("th", { scope: "row" }, name), ...columns.map(c => make("td", {}, c === "ess" ? String(Math.round(s[c])) : short(s[c])))));
  at("table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}
let last;
function showPosterior(summary, sample) {
  last = [summary, sample];
  const names = Object.keys(summary.variables), select = at("variable");
  if (select.options.length !== names.length)
    select.replaceChildren(...names.map(name => make("option", { value: name }, name)));
  showVerdict(summary);
  showForest(summary.variables);
  showMarginal(sample);
  showTable(summary.variables);
}

async function startNetwork() {
  const path = location.pathname;
  about = await ask(path + "?as=json");
  document.title = "NaMI: " + about.name;
  at("name").textContent = about.name;
  if (about.report && !sessionStorage.getItem("nami-token")) { // a link cannot carry the token
    at("report").href = path + "/report";
    at("report").hidden = false;
  }
  data = structuredClone(about.example);
  makeValues();
  showValues();
  await update();
}
if (document.body.dataset.page === "network") {
  at("data").addEventListener("submit", event => event.preventDefault());
  at("draws").addEventListener("input", later);
  at("variable").addEventListener("change", () => last && showMarginal(last[1]));
  addEventListener("resize", () => last && showPosterior(...last));
  at("reset").addEventListener("click", () => { data = structuredClone(about.example); showValues(); later(); });
  at("json").addEventListener("input", () => {
    try {
      data = JSON.parse(at("json").value);
      say("");
      showValues();
      later();
    } catch (error) { say("The data set is not valid JSON: " + error.message, true); }
  });
}
function start() {
  (document.body.dataset.page === "network" ? startNetwork : startIndex)().catch(error => say(error.message, true));
}
start();
