#!/usr/bin/env python3
"""test_site.py SITE [SCREENSHOTS]: ids of every page of the documentation are unique, every link and picture leads to
something, and nothing is fetched from elsewhere.  With a folder for SCREENSHOTS: pages are valid HTML (html5lib); in headless
Chromium (pages.mjs): search, tabs, light and dark, a phone, accessibility.
test_site.py --draft BUILD: of a site without the figures of the cookbook, made for the test."""
import json, os, subprocess, sys, tempfile
from html.parser import HTMLParser
from urllib.parse import unquote

HERE = os.path.dirname(os.path.abspath(__file__))
draft = tempfile.TemporaryDirectory()
if sys.argv[1] == "--draft":
    subprocess.run([sys.executable, os.path.join(HERE, "../scripts/site.py"), sys.argv[2], "--draft", draft.name],
                   check=True, stdout=subprocess.DEVNULL)
    sys.argv[1:] = [draft.name]
SITE, SHOTS = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
failed = []
ids, links = {}, []


class Elements(HTMLParser):
    """All (tag, attributes)."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def check_html(name, data):
    import html5lib
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    parser.parse(data, transport_encoding="utf-8")
    for (line, column), kind, _ in parser.errors[:3]:
        failed.append(f"{name}:{line}:{column}: {kind}")


for name in sorted(os.listdir(SITE)):
    if not name.endswith(".html"):
        continue
    with open(os.path.join(SITE, name), "rb") as file:
        data = file.read()
    if SHOTS:
        check_html(name, data)
    elements = Elements(data.decode()).found
    known = [e["id"] for _, e in elements if e.get("id")]
    failed += [f"{name}: id {i!r} twice" for i in sorted({i for i in known if known.count(i) > 1})]
    ids[name] = set(known)
    for tag, e in elements:
        links += [(name, e.get(a)) for a in ("href", "src") if e.get(a) is not None]
        if tag in ("img", "script", "link") and "//" in (e.get("src") or e.get("href") or ""):
            failed.append(f"{name}: fetches {e.get('src') or e.get('href')}")
        if tag == "img" and not e.get("alt"):
            failed.append(f"{name}: a picture without words: {e.get('src')}")
for name, target in links:
    path, _, anchor = unquote(target).partition("#")
    if path.startswith("pictures/build-") and draft.name == SITE:
        continue
    if target.startswith(("http:", "https:", "mailto:")):
        continue
    path = path or name
    if not os.path.exists(os.path.join(SITE, path)):
        failed.append(f"{name}: {target} does not exist")
    elif anchor and path in ids and anchor not in ids[path]:
        failed.append(f"{name}: {target}: there is no such section")
with open(os.path.join(SITE, "search.js"), encoding="utf-8") as file:
    index = json.loads(file.read()[len("found_index("):-len(");\n")])
for url, *_ in index:
    path, _, anchor = url.partition("#")
    if anchor and anchor not in ids.get(path, ()):
        failed.append(f"search: {url} does not exist")
print(f"{len(ids)} pages, {len(links)} links, {len(index)} sections in the search")

def page(name, steps, at=""):
    return {"name": f"{name or 'index'}{at}", "url": f"file://{SITE}/{name or 'index'}.html", "steps": steps,
            "expected": ["preload assets", "Connecting to 'file:"]}  # axe-core reads the style sheet

steps = [
    page("", [{"shot": "site-index"}, {"axe": True}, {"theme": "dark"}, {"shot": "site-index-dark"}, {"axe": True},
              {"type": ["#page-search input", "pareto weights"]}, {"wait": "#page-results li a"}, {"shot": "site-search"},
              {"evaluate": "document.querySelector('article').hidden"},
              {"evaluate": "/posterior/.test(document.querySelector('#page-results a').href)"}]),
    page("tutorial", [{"shot": "site-tutorial"}, {"axe": True}, {"evaluate": "document.querySelectorAll('[role=tab]').length > 20"},
                      {"click": "#tab-0-1"}, {"evaluate": "document.querySelector('#panel-3-1').offsetHeight > 0"},
                      {"evaluate": "document.querySelector('#panel-3-0').offsetHeight == 0"},
                      {"press": "ArrowRight"}, {"evaluate": "document.activeElement.id == 'tab-0-2'"}, {"shot": "site-tutorial-shell"},
                      {"click": "#page-theme"}, {"evaluate": "getComputedStyle(document.body).backgroundColor == 'rgb(28, 28, 30)'"},
                      {"shot": "site-tutorial-button"}]),
    page("cookbook", [{"axe": True}, {"shot": "site-cookbook"}, {"theme": "dark"}, {"shot": "site-cookbook-dark"}]),
    page("coming-from", [{"axe": True}, {"shot": "site-coming-from"}]),
    page("reference-c", [{"axe": True}, {"shot": "site-c"}]),
    page("reference-python", [{"axe": True}, {"shot": "site-python"}]),
    page("reference-commands", [{"axe": True}, {"shot": "site-commands"}]),
    page("language", [{"axe": True}, {"size": [390, 800]}, {"shot": "site-phone"},
                      {"evaluate": "document.documentElement.scrollWidth <= 390"}]),
]
if SHOTS and not failed:
    os.makedirs(SHOTS, exist_ok=True)
    listed = os.path.join(SHOTS, "site.json")
    with open(listed, "w", encoding="utf-8") as file:
        json.dump(steps, file)
    if subprocess.run(["node", os.path.join(HERE, "pages.mjs"), SHOTS, listed], check=False).returncode:
        failed.append("pages.mjs")
for what in failed[:40]:
    print("FAIL:", what)
print("passed" if not failed else f"{len(failed)} failed")
sys.exit(bool(failed))
