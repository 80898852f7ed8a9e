"""markdown.py: the subset of Markdown that the documentation uses, as HTML.

Headings, paragraphs, lists (nested), tables, fenced and indented code, quotes, links, images, code, bold, italic; lines
of HTML that begin with <img.  Blocks of code between the comments <!-- tabs --> and <!-- /tabs --> are shown side by side."""
import html
import re

LABELS = {"python": "Python", "py": "Other program", "stan": "Stan", "r": "R", "sh": "Shell", "console": "Shell", "c": "C", "json": "JSON"}


def slug(text, taken):
    """The anchor of a heading, as GitHub makes it."""
    base = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    name, n = base, 0
    while name in taken:
        n += 1
        name = f"{base}-{n}"
    taken.add(name)
    return name


def plain(text):
    """Inline markup as text."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[`*]", "", text).replace("\\", "")


class Page:
    """One file.  link(target) gives the address of a link or image in the site."""

    def __init__(self, text, link):
        self.link = link
        self.taken = set()
        self.headings = []  # (level, title, anchor)
        self.parts = [["", "", []]]  # (title, anchor, texts) for the search
        self.body = "\n".join(self.blocks(text.split("\n")))

    # ---- inline

    def inline(self, text):
        kept = []

        def keep(markup):
            kept.append(markup)
            return f"\0{len(kept) - 1}\0"

        def code(match):
            inside = match.group(2)
            if inside.startswith(" ") and inside.endswith(" ") and inside.strip():
                inside = inside[1:-1]
            return keep(f"<code>{html.escape(inside)}</code>")

        def image(match):
            return keep(self.image(match.group(2), match.group(1)))

        def anchor(match):
            return keep(f'<a href="{html.escape(self.link(match.group(2)))}">') + match.group(1) + keep("</a>")

        text = re.sub(r"(`+)(.+?)(?<!`)\1(?!`)", code, text)
        text = re.sub(r"\\([\\`*_{}\[\]()#+.!|<>-])", lambda m: keep(html.escape(m.group(1))), text)
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", image, text)
        text = re.sub(r"<(https?://[^>\s]+)>", lambda m: keep(f'<a href="{m.group(1)}">{html.escape(m.group(1))}</a>'), text)
        text = re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", anchor, text)
        text = html.escape(text, quote=False)
        text = re.sub(r"\*\*(\S(?:.*?\S)?)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"(?<![\w*])\*([^\s*](?:[^*]*[^\s*])?)\*(?![\w*])", r"<em>\1</em>", text)
        while "\0" in text:
            text = re.sub("\0(\\d+)\0", lambda m: kept[int(m.group(1))], text)
        return text

    def image(self, source, alt, width=None):
        size = f' width="{width}"' if width else ""
        address = self.link(source)
        kind = ' class="graph"' if getattr(self.link, "is_graph", lambda _: False)(source) else ""
        return f'<img src="{html.escape(address)}" alt="{html.escape(alt)}"{size}{kind}>'

    # ---- blocks

    def heading(self, level, text):
        anchor = slug(plain(text), self.taken)
        self.headings.append((level, plain(text), anchor))
        self.parts.append([plain(text), anchor, []])
        return (f'<h{level} id="{anchor}">{self.inline(text)}'
                f'<a class="here" href="#{anchor}" aria-label="Link to this section">#</a></h{level}>')

    def code(self, lines, language=""):
        self.parts[-1][2].append(" ".join(lines))
        text = html.escape("\n".join(lines))
        if language == "console":
            text = re.sub(r"^\$ (.*)$", r'<span class="prompt">$ </span><b>\1</b>', text, flags=re.M)
        elif language == "python":
            text = re.sub(r"^(&gt;&gt;&gt;|\.\.\.)(.*)$", r'<span class="prompt">\1</span><b>\2</b>', text, flags=re.M)
        label = f' data-language="{LABELS[language]}"' if language in LABELS else ""
        return f'<pre tabindex="0"{label}><code>{text}</code></pre>'

    def paragraph(self, lines):
        text = " ".join(line.strip() for line in lines)
        self.parts[-1][2].append(plain(text))
        return f"<p>{self.inline(text)}</p>"

    def table(self, lines):
        rows = []
        for line in lines:
            self.parts[-1][2].append(plain(line.replace("|", " ")))
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|") if not line.strip().endswith("\\|") else line.strip()[1:])
            rows.append([cell.strip().replace("\\|", "|") for cell in cells])
        align = ["right" if cell.endswith(":") and not cell.startswith(":") else "" for cell in rows[1]]
        style = [' class="number"' if a else "" for a in align]
        style += [""] * max(len(row) for row in rows)
        head = "".join(f"<th{s}>{self.inline(cell)}</th>" for cell, s in zip(rows[0], style))
        out = ['<div class="scroll" tabindex="0"><table>']
        out += [f"<thead><tr>{head}</tr></thead>"] if any(rows[0]) else []
        out.append("<tbody>")
        for row in rows[2:]:
            out.append("<tr>" + "".join(f"<td{s}>{self.inline(cell)}</td>" for cell, s in zip(row, style)) + "</tr>")
        return "\n".join(out) + "</tbody></table></div>"

    def list(self, lines):
        """Items begin at the indent of the first; what is indented further belongs to the item above."""
        marker = re.compile(r"( *)([-*]|\d+\.) +")
        first = marker.match(lines[0])
        kind = "ul" if first.group(2) in "-*" else "ol"
        items = []
        for line in lines:
            match = marker.match(line)
            if match and len(match.group(1)) <= len(first.group(1)):
                items.append([line[match.end():]])
                width = match.end()
            else:
                indent = len(line) - len(line.lstrip())
                items[-1].append(line[min(indent, width):])
        out = []
        for item in items:
            inner = self.blocks(item)
            if len(inner) and inner[0].startswith("<p>") and not any(part.startswith("<p>") for part in inner[1:]):
                inner[0] = inner[0][3:-4]
            out.append("<li>" + "\n".join(inner) + "</li>")
        return f"<{kind}>\n" + "\n".join(out) + f"\n</{kind}>"

    def blocks(self, lines):
        out, i = [], 0
        item = re.compile(r" *([-*]|\d+\.) +\S")
        while i < len(lines):
            line = lines[i]
            start = i
            fence = re.match(r"( *)```(\w*)", line)
            if not line.strip():
                i += 1
            elif fence:
                i += 1
                while i < len(lines) and not lines[i].strip().startswith("```"):
                    i += 1
                indent = len(fence.group(1))
                out.append(self.code([text[indent:] for text in lines[start + 1:i]], fence.group(2)))
                i += 1
            elif line.startswith("    "):
                while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                    i += 1
                code = [text[4:] for text in lines[start:i]]
                while not code[-1].strip():
                    code.pop()
                out.append(self.code(code))
            elif re.match(r"#{1,6} ", line):
                level = len(line) - len(line.lstrip("#"))
                out.append(self.heading(level, line[level + 1:].strip()))
                i += 1
            elif line.strip() == "<!-- tabs -->":
                while lines[i].strip() != "<!-- /tabs -->":
                    i += 1
                out.append('<div class="tabs">' + "\n".join(self.blocks(lines[start + 1:i])) + "</div>")
                i += 1
            elif line.startswith("<!--"):
                while "-->" not in lines[i]:
                    i += 1
                i += 1
            elif line.startswith("<img "):
                given = dict(re.findall(r'(\w+)="([^"]*)"', line))
                out.append(f'<p>{self.image(given["src"], html.unescape(given["alt"]), given.get("width"))}</p>')
                i += 1
            elif line.startswith(">"):
                while i < len(lines) and lines[i].startswith(">"):
                    i += 1
                out.append("<blockquote>" + "\n".join(self.blocks([text[1:].lstrip() for text in lines[start:i]]))
                           + "</blockquote>")
            elif line.startswith("|") and i + 1 < len(lines) and re.match(r"\|[ :|-]+$", lines[i + 1]):
                while i < len(lines) and lines[i].startswith("|"):
                    i += 1
                out.append(self.table(lines[start:i]))
            elif item.match(line):
                i += 1
                while i < len(lines) and (lines[i].startswith(" ") or item.match(lines[i]) or
                                          (not lines[i].strip() and i + 1 < len(lines) and
                                           (lines[i + 1].startswith("  ") or item.match(lines[i + 1]))) or
                                          (lines[i].strip() and not re.match(r"(#|```|\||<|>)", lines[i]) and lines[i - 1].strip())):
                    i += 1
                out.append(self.list(lines[start:i]))
            else:
                i += 1
                while i < len(lines) and lines[i].strip() and not re.match(r"(#{1,6} |```|\||<!--|<img |>)", lines[i]) \
                        and not item.match(lines[i]):
                    i += 1
                out.append(self.paragraph(lines[start:i]))
        return out
