#!/usr/bin/env python3
"""scripts/site.py BUILD [--draft DIRECTORY]: the documentation as static pages, BUILD/site, from the Markdown files of the
repository, the manual pages, include/nami.h and the docstrings of python/nami.  Nothing is fetched, by this program or by the
pages.

The commands of docs/cookbook.md are run (make site takes minutes the first time); the pictures that they make, in
BUILD/cookbook, are kept until the command or the program changes.  --draft: without these, to another directory."""
import ast
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys

from markdown import Page, slug

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# section, pages: (source, title in the navigation)
SECTIONS = [
    ("Start", [("README.md", "NaMI"), ("docs/tutorial.md", "Tutorial"), ("docs/cookbook.md", "Cookbook"),
               ("docs/coming-from.md", "Coming from JAGS, Stan, ..."), ("docs/python.md", "From Python"),
               ("docs/r.md", "From R"), ("examples/models/README.md", "Example models")]),
    ("Models", [("docs/language.md", "Language"), ("docs/data.md", "Data"), ("docs/check.md", "Check of priors"),
                ("docs/simulators.md", "Simulators"), ("docs/learning.md", "Learning a model")]),
    ("Inference", [("docs/training.md", "Training"), ("docs/posterior.md", "Posterior"), ("docs/exact.md", "Exact inference"),
                   ("docs/answers.md", "Answers on the classic models"), ("docs/report.md", "Figures and reports")]),
    ("Elsewhere", [("docs/serve.md", "HTTP service"), ("docs/export.md", "Networks as C and ONNX"),
                   ("docs/mpi.md", "Many machines")]),
    ("Structures", [("docs/structures.md", "Inverting graphs"), ("docs/inversion.md", "The algorithm"),
                    ("docs/formats.md", "Formats")]),
    ("Reference", [("reference:python", "Python"), ("reference:c", "C"), ("reference:commands", "Commands")]),
    ("About", [("docs/speed.md", "Speed"), ("docs/reproduction.md", "The paper's experiments"),
               ("docs/numerics.md", "Numerics"), ("docs/robustness.md", "Robustness"), ("SECURITY.md", "Security"),
               ("CHANGELOG.md", "Changes"), ("CONTRIBUTING.md", "Contributing"), ("src/README.md", "Source"),
               ("tests/README.md", "Tests"), ("docs/release.md", "Releases")]),
]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def address(source):
    """The page of a source."""
    if source == "README.md":
        return "index.html"
    if source.startswith("reference:"):
        return f"reference-{source[10:]}.html"
    name = source[:-3]
    return (name[5:] if name.startswith("docs/") else name.lower()).replace("/", "-") + ".html"


class Site:
    """All pages, and what they need."""

    def __init__(self, build, draft):
        self.build = build
        self.draft = bool(draft)
        self.out = draft or os.path.join(build, "site")
        self.pages = {s: t for _, pages in SECTIONS for s, t in pages if s.startswith("reference:") or
                      os.path.exists(os.path.join(ROOT, s))}
        self.others = []  # Markdown files outside of the navigation that are linked to
        self.files = {}  # repository files that are shown, by path
        self.images = {}
        self.index = []
        self.wrong = []

    # ---- links

    def link(self, source):
        """Where links of a page lead to."""
        folder = os.path.dirname(source)

        def to(target):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                return target
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(folder, path))
            anchor = f"#{anchor}" if anchor else ""
            whole = os.path.join(ROOT, path)
            if path.startswith("build/") and path.endswith(".svg"):
                whole = os.path.join(self.build, path[6:])
            if os.path.isdir(whole) and os.path.exists(os.path.join(whole, "README.md")):
                path, whole = path + "/README.md", whole + "/README.md"
            is_figure = path.startswith("build/")
            if not os.path.exists(whole) and not (is_figure and self.draft):
                self.wrong.append(f"{source}: {target} does not exist")
                return target
            if path.endswith(".md"):
                if path not in self.pages and path not in self.others:
                    self.others.append(path)
                return address(path) + anchor
            if path.endswith((".svg", ".png")):
                name = "pictures/" + path.replace("../", "").replace("/", "-")
                self.images[name] = whole
                return name
            return self.show(path) + anchor

        to.is_graph = lambda target: target.endswith(".svg") and "prefers-color-scheme" not in self.svg(folder, target)
        return to

    def svg(self, folder, target):
        path = os.path.normpath(os.path.join(folder, target))
        whole = os.path.join(self.build, path[6:]) if path.startswith("build/") else os.path.join(ROOT, path)
        if self.draft:
            return ""
        with open(whole, encoding="utf-8") as file:
            return file.read()

    def show(self, path):
        """The page of a file or folder of the repository."""
        name = "file-" + re.sub(r"[^\w.-]", "-", path) + ".html"
        self.files[path] = name
        return name

    # ---- pages

    def write(self, name, content):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)

    def navigation(self, current):
        out = []
        for section, pages in SECTIONS:
            links = []
            for source, title in pages:
                if source in self.pages:
                    here = ' aria-current="page"' if source == current else ""
                    links.append(f'<li><a href="{address(source)}"{here}>{html.escape(title)}</a></li>')
            out.append(f"<h2>{section}</h2><ul>{''.join(links)}</ul>")
        return "".join(out)

    def put(self, name, title, body, headings=(), source=None, parts=()):
        contents = "".join(f'<li class="l{level}"><a href="#{anchor}">{html.escape(text)}</a></li>'
                           for level, text, anchor in headings if level in (2, 3))
        contents = f'<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>{contents}</ul></nav>' \
            if contents.count("<li") > 1 else ""
        for part, anchor, texts in parts:
            text = re.sub(r"\s+", " ", " ".join(texts)).strip()
            if text or part:
                self.index.append([name + (f"#{anchor}" if anchor else ""), title, part, text])
        self.write(name, TEMPLATE.format(title=html.escape(title), navigation=self.navigation(source), body=body,
                                         contents=contents))

    def markdown(self, source, title=None):
        page = Page(read(source), self.link(source))
        title = title or next((text for level, text, _ in page.headings if level == 1), source)
        self.put(address(source), title, page.body, page.headings, source, page.parts)

    # ---- C

    def c_reference(self):
        text = read("include/nami.h")
        body, headings, parts, taken = [], [], [["", "", []]], set()

        def heading(level, words):
            anchor = slug(words, taken)
            headings.append((level, words, anchor))
            parts.append([words, anchor, []])
            body.append(f'<h{level} id="{anchor}">{html.escape(words)}</h{level}>')

        def prose(comment):
            parts[-1][2].append(comment)
            for paragraph in re.split(r"\n\s*\n", comment):
                if all(line.startswith("    ") for line in paragraph.split("\n") if line.strip()):
                    body.append(f'<pre tabindex="0">{html.escape(paragraph)}</pre>')
                else:
                    body.append(f"<p>{html.escape(paragraph)}</p>")

        def declaration(code):
            names = re.findall(r"\b(nami_\w+)\s*\(", code) + re.findall(r"\}\s*(nami_\w+);", code)
            parts.append([", ".join(dict.fromkeys(names)), names[0] if names else parts[-1][1], [code]])
            marked = html.escape(code)
            for name in dict.fromkeys(names):
                if name not in taken:
                    taken.add(name)
                    marked = re.sub(rf"\b{name}\b(?=\s*[(;])", f'<b id="{name}">{name}</b>', marked, count=1)
            body.append(f'<pre tabindex="0"><code>{marked}</code></pre>')

        heading(1, "C: nami.h")
        at = re.search(r"/\*(.*?)\*/", text, re.S)
        prose(re.sub(r"^ {3}", "", at.group(1).strip(), flags=re.M))
        code = []

        def flush():
            joined = "\n".join(code).strip("\n")
            if joined.strip():
                declaration(joined)
            code.clear()

        depth = 0
        rest = text[at.end():].split("\n")
        i = 0
        while i < len(rest):
            line = rest[i]
            section = re.match(r"/\* -{3,} (.*?) -+ \*/", line)
            if section:
                flush()
                heading(2, section.group(1).capitalize())
            elif line.startswith("/*") and depth == 0:
                flush()
                comment = [line]
                while "*/" not in comment[-1]:
                    i += 1
                    comment.append(rest[i])
                words = "\n".join(comment)
                words = words[2:words.index("*/")].strip()
                prose(re.sub(r"^ {3}", "", words, flags=re.M))
            elif not re.match(r"#(if|endif|ifdef|ifndef|pragma|include <|define NAMI_H$)|extern \"C\"|^\}$", line) or depth:
                code.append(line)
                depth += line.count("{") - line.count("}")
                if depth == 0 and not line.strip():
                    flush()
            i += 1
        flush()
        self.put("reference-c.html", "C: nami.h", "\n".join(body), headings, "reference:c", parts)

    # ---- Python

    def python_reference(self):
        modules = [ast.parse(read(f"python/nami/{name}.py")) for name in
                   ("model", "network", "posterior", "errors", "_lib", "__init__")]
        public = next(ast.literal_eval(node.value) for node in modules[-1].body if isinstance(node, ast.Assign) and
                      node.targets[0].id == "__all__")
        found = {node.name: node for module in modules for node in module.body
                 if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        body, headings, parts, taken = [], [], [], set()

        def heading(level, words, code):
            anchor = slug(words.replace(".", "-"), taken)
            headings.append((level, words, anchor))
            parts.append([words, anchor, []])
            body.append(f'<h{level} id="{anchor}">{html.escape(words)}</h{level}>')
            if code:
                body.append(f'<pre tabindex="0"><code>{html.escape(code)}</code></pre>')

        def doc(node):
            text = ast.get_docstring(node) or ""
            if not text:
                self.wrong.append(f"python/nami: {node.name} has no docstring")
            parts[-1][2].append(text)
            for paragraph in re.split(r"\n\s*\n", text):
                lines = paragraph.split("\n")
                if any(re.match(r"\w[\w, ]*: |  ", line) for line in lines):
                    body.append("<pre class=\"doc\">" + html.escape(paragraph) + "</pre>")
                else:
                    body.append("<p>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(" ".join(lines))) + "</p>")

        def signature(node, owner=""):
            args = ast.unparse(node.args)
            args = re.sub(r"^(self|cls)(, )?", "", args)
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            line = f"{owner}{node.name}({args}){returns}"
            if len(line) > 100:  # one argument a line
                parts = re.split(r", (?=\*|\w+[:=])", args)
                line = f"{owner}{node.name}(\n    " + ",\n    ".join(parts) + f"){returns}"
            return re.sub(r"'([A-Z]\w*|os\.PathLike\[str\])'", r"\1", line)

        heading(1, "Python", "")
        body.append("<p>All public names of the package <code>nami</code>, from its docstrings; "
                    f'<a href="{address("docs/python.md")}">From Python</a> is the guide.</p>')
        first = ["Model", "Inverse", "Network", "Posterior", "Posteriors"]
        for name in first + [name for name in public if name not in first]:
            node = found[name]
            if isinstance(node, ast.FunctionDef):
                heading(2, name, signature(node, "nami."))
                doc(node)
                continue
            made = next((f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
            heading(2, name, signature(made).replace("__init__", f"nami.{name}").replace(" -> None", "")
                    if name == "Model" else "")  # the others are made by methods
            doc(node)
            bases = [b.id for b in node.bases if isinstance(b, ast.Name) and b.id in found]
            if bases and bases[0] in public:
                body.append(f'<p>A <code>{bases[0]}</code>.</p>')
            for member in node.body:
                if isinstance(member, ast.AnnAssign):
                    body.append(f"<p><code>{html.escape(ast.unparse(member))}</code></p>")
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and \
                        not any(ast.unparse(d) == "overload" for d in member.decorator_list):
                    is_property = any(ast.unparse(d) == "property" for d in member.decorator_list)
                    code = f"{member.name} -> {ast.unparse(member.returns)}" if is_property else signature(member)
                    heading(3, f"{name}.{member.name}", code)
                    doc(member)
        self.put("reference-python.html", "Python", "\n".join(body), headings, "reference:python", parts)

    # ---- commands

    def manual(self):
        body, headings, parts, taken = ['<h1 id="commands">Commands</h1>'], [], [], set()
        folder = os.path.join(self.build, "man")
        for file in sorted(os.listdir(folder)):
            name = file[:-2].replace("-", " ", 1)
            anchor = slug(file[:-2], taken)
            headings.append((2, name, anchor))
            parts.append([name, anchor, []])
            body.append(f'<h2 id="{anchor}">{name}</h2>')
            with open(os.path.join(folder, file), encoding="utf-8") as f:
                body.append(troff(f.read(), parts[-1][2]))
        self.put("reference-commands.html", "Commands", "\n".join(body), headings, "reference:commands", parts)

    # ---- the cookbook

    def cook(self, source):
        """Runs the commands of a page, from the root of the repository."""
        kept = os.path.join(self.build, "cookbook")
        os.makedirs(kept, exist_ok=True)
        environment = {**os.environ, "PATH": self.build + os.pathsep + os.environ["PATH"]}
        with open(os.path.join(self.build, "nami"), "rb") as file:
            program = hashlib.sha256(file.read()).hexdigest()
        for block in re.findall(r"```console\n(.*?)```", read(source), re.S):
            mark = os.path.join(kept, hashlib.sha256((program + block).encode()).hexdigest()[:16] + ".done")
            made = [os.path.join(self.build, path) for path in re.findall(r"-o build/(\S+\.svg)", block)]
            if os.path.exists(mark) and all(map(os.path.exists, made)):
                continue
            for command in re.findall(r"^\$ (.*)$", block, re.M):
                print(command, flush=True)
                for word, path in (("build/nami", "nami"), ("build/", self.build + "/")):
                    command = command.replace(word, path)
                run = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                if run.returncode > 1:  # 1: not calibrated, or not trusted
                    sys.exit(f"{source}: {command}\n{run.stdout}")
            with open(mark, "w", encoding="utf-8"):
                pass

    def all(self):
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        if not self.draft:
            self.cook("docs/cookbook.md")
        for source, title in self.pages.items():
            if not source.startswith("reference:"):
                self.markdown(source, title if source == "README.md" else None)
        self.c_reference()
        self.python_reference()
        self.manual()
        while self.others:
            self.pages[self.others[0]] = ""
            self.markdown(self.others.pop(0))
        done = set()
        while set(self.files) - done:
            for path in sorted(set(self.files) - done):
                done.add(path)
                self.file(path)
        for name, path in self.images.items():
            if self.draft and not os.path.exists(path):
                continue
            os.makedirs(os.path.join(self.out, os.path.dirname(name)), exist_ok=True)
            shutil.copyfile(path, os.path.join(self.out, name))
        for name in ("site.css", "site.js"):
            shutil.copyfile(os.path.join(ROOT, "scripts", name), os.path.join(self.out, name))
        self.write("search.js", "found_index(" + json.dumps(self.index, ensure_ascii=False, separators=(",", ":")) + ");\n")
        if self.wrong:
            sys.exit("\n".join(self.wrong))

    def file(self, path):
        whole = os.path.join(ROOT, path)
        title = f'<h1><code>{html.escape(path)}</code></h1>'
        if os.path.isdir(whole):
            inside = sorted(name for name in os.listdir(whole) if not name.startswith((".", "__")))
            link = self.link(path + "/")
            items = "".join(f'<li><a href="{html.escape(link(name))}">{html.escape(name)}</a></li>' for name in inside)
            self.put(self.files[path], path, f"{title}<ul>{items}</ul>")
            return
        with open(whole, encoding="utf-8", errors="replace") as file:
            text = file.read()
        shown = text if len(text) < 200000 else text[:200000] + "\n... the file in the repository has the rest"
        self.put(self.files[path], path, f'{title}<pre tabindex="0"><code>{html.escape(shown)}</code></pre>')


def troff(text, words):
    """A manual page, as the program writes them."""
    def spans(line):
        line = html.escape(line.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "").replace("\\e", "\\"), quote=False)
        line = re.sub(r"\\fB(.*?)\\fR", r"<b>\1</b>", line)
        return re.sub(r"\\fI(.*?)\\fR", r"<i>\1</i>", line)

    out, inside, term = [], "", False

    def close():
        nonlocal inside
        if inside:
            out.append(f"</{inside}>")
        inside = ""

    for line in text.split("\n"):
        macro, _, rest = line.partition(" ")
        if macro in (".TH", ""):
            continue
        if macro == ".SH":
            close()
            term = False
            if rest != "NAME":
                out.append(f"<h3>{rest.strip(chr(34)).capitalize()}</h3>")
        elif macro == ".PP":
            close()
        elif macro == ".TP":
            if inside == "p":
                close()
            if not inside:
                out.append("<dl>")
                inside = "dl"
            term = True
        elif macro == ".EX":
            if inside == "dl":
                out.append("<dt><code>")
            else:
                close()
                out.append('<pre tabindex="0">')
        elif macro == ".EE":
            out.append("</code></dt>" if inside == "dl" else "</pre>")
            term = False
        else:
            shown = spans(rest if macro in (".B", ".BR", ".I") else line)
            words.append(re.sub(r"<[^>]*>", "", html.unescape(shown)))
            if macro in (".B", ".I", ".BR"):
                shown = f"<b>{shown}</b>"
            if out and out[-1] == "<dt><code>" or out and out[-1] == '<pre tabindex="0">':
                out.append(shown)
            elif inside == "dl":
                out.append(f"<dt>{shown}</dt>" if term else f"<dd>{shown}</dd>")
                term = False
            else:
                if not inside:
                    out.append("<p>")
                    inside = "p"
                out.append(shown)
    close()
    return "\n".join(out)


TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file:">
<title>{title} - NaMI</title>
<link rel="stylesheet" href="site.css">
<script src="site.js" defer></script>
</head>
<body>
<a class="skip" href="#page-main">Skip to the text</a>
<header>
<a class="name" href="index.html">NaMI</a>
<form role="search" id="page-search"><input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off"></form>
<button id="page-theme" type="button" hidden>Dark</button>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages"><details open><summary>Pages</summary>{navigation}</details></nav>
<main id="page-main" tabindex="-1">
<section id="page-results" aria-live="polite" hidden></section>
<article>
{body}
</article>
</main>
{contents}
</div>
</body>
</html>
"""

if __name__ == "__main__":
    site = Site(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None)
    site.all()
    print(os.path.join(site.out, "index.html"))
