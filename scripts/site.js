// site.js: theme, tabs and search of the documentation.  Nothing is fetched but search.js, beside the pages.
"use strict";
const memory = {
  get(key) { try { return localStorage.getItem("nami-" + key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem("nami-" + key, value); } catch { /* as of file:// in some browsers */ } },
};

// ---- light and dark
const root = document.documentElement, theme = document.getElementById("page-theme");
const is_dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
function set_theme(name) {
  if (name) root.dataset.theme = name;
  theme.textContent = is_dark() ? "Light" : "Dark";
}
set_theme(memory.get("theme"));
theme.hidden = false;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => set_theme());
theme.addEventListener("click", () => { set_theme(is_dark() ? "light" : "dark"); memory.set("theme", root.dataset.theme); });

// ---- pages: folded on narrow screens
if (matchMedia("(max-width: 48rem)").matches) document.querySelector(".pages details").open = false;

// ---- tabs: the chosen language is that of all blocks
const groups = [...document.querySelectorAll(".tabs")].map((box, number) => {
  const panels = [...box.querySelectorAll("pre")], list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  const tabs = panels.map((panel, i) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = panel.dataset.language;
    tab.id = `tab-${number}-${i}`;
    panel.id = `panel-${number}-${i}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => choose(tab.textContent));
    tab.addEventListener("keydown", e => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      const next = tabs[(i + step + tabs.length) % tabs.length];
      choose(next.textContent);
      next.focus();
    });
    list.append(tab);
    return tab;
  });
  box.prepend(list);
  box.classList.add("on");
  return { tabs, panels };
});
function choose(language) {
  for (const { tabs, panels } of groups) {
    const at = Math.max(0, tabs.findIndex(tab => tab.textContent === language));
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === at);
      tab.tabIndex = i === at ? 0 : -1;
      panels[i].hidden = i !== at;
    });
  }
  memory.set("language", language);
}
if (groups.length) choose(memory.get("language") || "Python");

// ---- search: sections that contain all words
const input = document.querySelector("#page-search input"), results = document.getElementById("page-results");
const article = document.querySelector("article");
let index = null;
function found_index(sections) { // eslint-disable-line no-unused-vars -- called by search.js
  index = sections.map(([url, page, title, text]) => ({ url, page, title, text, low: text.toLowerCase(), head: (page + " " + title).toLowerCase() }));
  search();
}
function load() {
  if (index || document.getElementById("index")) return;
  const script = document.createElement("script");
  script.id = "index";
  script.src = "search.js";
  document.head.append(script);
}
const starts = (text, word) => { // where a word begins with it, or -1
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!at || !/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
  return -1;
};
function rank(section, words) {
  let score = 0;
  for (const word of words) {
    const in_head = starts(section.head, word) >= 0, in_text = starts(section.low, word) >= 0;
    if (!in_head && !in_text) return 0;
    score += (in_head ? 10 : 0) + (section.title.toLowerCase() === word ? 20 : 0) + (in_text ? 1 : 0);
  }
  return score;
}
function excerpt(section, words) {
  const line = document.createElement("span"), first = Math.max(0, starts(section.low, words[0]));
  const from = Math.max(0, first - 60);
  const text = (from ? "... " : "") + section.text.slice(from, from + 200) + (section.text.length > from + 200 ? " ..." : "");
  const safe = words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  text.split(new RegExp(`(${safe})`, "i")).forEach((part, i) => {
    const piece = i % 2 ? document.createElement("mark") : document.createTextNode(part);
    if (i % 2) piece.textContent = part;
    line.append(piece);
  });
  return line;
}
function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = !words.length || !index;
  article.hidden = !results.hidden;
  if (results.hidden) return;
  const best = index.map(section => ({ section, score: rank(section, words) })).filter(r => r.score).sort((a, b) => b.score - a.score);
  const head = document.createElement("h1"), list = document.createElement("ol");
  head.textContent = best.length ? `${best.length} section${best.length > 1 ? "s" : ""}` : "Nothing found";
  for (const { section } of best.slice(0, 40)) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = section.url;
    link.textContent = section.title && section.title !== section.page ? `${section.page}: ${section.title}` : section.page;
    link.addEventListener("click", () => { input.value = ""; search(); });
    item.append(link, excerpt(section, words));
    list.append(item);
  }
  results.replaceChildren(head, list);
}
input.addEventListener("focus", load);
input.addEventListener("input", () => { load(); search(); });
document.getElementById("page-search").addEventListener("submit", e => {
  e.preventDefault();
  const first = results.querySelector("a");
  if (first) first.click();
});
document.addEventListener("keydown", e => {
  if (e.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); input.focus(); }
  if (e.key === "Escape" && document.activeElement === input) { input.value = ""; search(); input.blur(); }
});
