// pages.mjs: drives pages in headless Chromium: steps, screenshots, accessibility (axe-core), console errors, and requests
// that leave the machine.
//
//     node tests/pages.mjs FOLDER STEPS.json
//
// FOLDER receives the screenshots.  STEPS.json is a list of pages {"name", "url", "steps": [...], "expected": [...]}, url
// http://127.0.0.1... or file://..., expected: parts of console messages that are no error of the page.  A step is one of
//     {"wait": SELECTOR}  {"click": SELECTOR}  {"press": KEY}  {"type": [SELECTOR, TEXT]}  {"set": [SELECTOR, VALUE]}
//     {"remember": [NAME, SELECTOR]}  {"changed": [NAME, SELECTOR]}  {"same": [NAME, SELECTOR]}   text and markup of an element
//     {"has": [SELECTOR, TEXT]}  {"theme": "dark"|"light"}  {"size": [WIDTH, HEIGHT]}  {"shot": NAME}  {"axe": true}  {"pdf": NAME}
//     {"evaluate": JAVASCRIPT}    which must be true
// The packages puppeteer-core and axe-core are looked for in NAMI_PAGES (~/.cache/nami/pages; `make test-pages` installs them).
import { createRequire } from "node:module";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const [folder, file] = process.argv.slice(2);
const require = createRequire(join(process.env.NAMI_PAGES || join(homedir(), ".cache/nami/pages"), "x.js"));
const puppeteer = require("puppeteer-core");
const axe = require.resolve("axe-core");
const chromium = process.env.CHROMIUM || ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync);
mkdirSync(folder, { recursive: true });
let failed = 0;
const fail = what => { failed++; console.log("FAIL: " + what); };

const browser = await puppeteer.launch({
  executablePath: chromium, headless: true,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"] });

async function audit(page, name) {
  await page.evaluate(readFileSync(axe, "utf8"));
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const v of violations) {
    const where = v.nodes.slice(0, 3).map(n => n.target.join(" ")).join("; ");
    if (v.impact === "serious" || v.impact === "critical") fail(`${name}: ${v.impact}: ${v.help}: ${where}`);
    else console.log(`note: ${name}: ${v.impact}: ${v.help}: ${where}`);
  }
}

async function run({ name, url, steps, expected = [] }) {
  const page = await browser.newPage(), memory = {};
  const look = selector => page.$eval(selector, e => e.outerHTML);
  await page.setViewport({ width: 1200, height: 900 });
  page.on("console", m => {
    if (!["error", "warn"].includes(m.type()) || expected.some(part => m.text().includes(part))) return;
    fail(`${name}: console: ${m.text()}`);
  });
  page.on("pageerror", e => fail(`${name}: ${e.message}`));
  page.on("request", r => {
    if (!/^(http:\/\/127\.0\.0\.1[:/]|file:|data:|blob:|about:)/.test(r.url())) fail(`${name}: asks ${r.url()}`);
  });
  await page.goto(url, { waitUntil: "load" });
  const act = {
    wait: s => page.waitForSelector(s, { timeout: 10000 }),
    click: s => page.click(s),
    press: key => page.keyboard.press(key),
    type: async ([s, text]) => { await page.click(s, { clickCount: 3 }); await page.keyboard.type(text); },
    set: ([s, value]) => page.$eval(s, (e, v) => { e.value = v; e.dispatchEvent(new Event("input", { bubbles: true })); }, value),
    remember: async ([key, s]) => { memory[key] = await look(s); },
    changed: async ([key, s]) => {
      for (let i = 0; i < 100 && await look(s) === memory[key]; i++) await new Promise(r => setTimeout(r, 30));
      if (await look(s) === memory[key]) fail(`${name}: ${s} has not changed`);
    },
    same: async ([key, s]) => {
      for (let i = 0; i < 100 && await look(s) !== memory[key]; i++) await new Promise(r => setTimeout(r, 30));
      if (await look(s) !== memory[key]) fail(`${name}: ${s} is not as it was`);
    },
    has: async ([s, text]) => {
      const get = () => page.$eval(s, e => e.textContent);
      for (let i = 0; i < 100 && !(await get()).includes(text); i++) await new Promise(r => setTimeout(r, 30));
      if (!(await get()).includes(text)) fail(`${name}: no '${text}' in ${s}: ${(await get()).slice(0, 200)}`);
    },
    theme: t => page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: t }]),
    size: ([width, height]) => page.setViewport({ width, height }),
    shot: s => page.screenshot({ path: join(folder, s + ".png"), fullPage: true }),
    pdf: s => page.pdf({ path: join(folder, s + ".pdf") }),
    axe: () => audit(page, name),
    evaluate: async js => { if (!(await page.evaluate(js))) fail(`${name}: false: ${js}`); },
  };
  for (const step of steps) {
    const [[what, argument]] = Object.entries(step);
    try { await act[what](argument); } catch (error) { fail(`${name}: ${JSON.stringify(step)}: ${error.message}`); break; }
  }
  await page.close();
  console.log(`${name}: ${steps.length} steps`);
}

for (const page of JSON.parse(readFileSync(file, "utf8"))) await run(page);
await browser.close();
console.log(`${failed} failed`);
process.exit(failed ? 1 : 0);
