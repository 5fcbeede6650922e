"""The lines that deliver a claim: of its function the code, without docstring and checks,
and among them the one that it comes down to.
"""

import ast
import inspect
import re
import textwrap
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
# Where a claim is about a part of its function, or about its rule: what stands in the
# first and in the last line of that part, by the claim's letter and the function's name
PARTS = {
    "B softmax": ("@softmax.rule", "return y * (g - "),
    "B matmul": ("    ga = ", "return ga, gb"),
    "C MultiHeadAttention": ("Q = split_heads", "Y, A = attention("),
    "D tiled_attention": ("M_new = ", "M = M_new"),  # the running softmax
    "E Block": ("x = x + self.attention", "return x + "),
    "G GPT": ("x = self.tokens(ids)", "return self.norm(x)"),
}
# What stands in the line that claims come down to, in one of their functions or another
MARKS = {
    "A1 B4": ("query == key", "softmax(", "return y"),
    "A2 C5": ("score(",),
    "A3 A4 A7 A8 A9 C4 D3 D4 D5 E3 E5": ("softmax(", "e / Z"),
    "A5 C2 C3 D1 E1": ("A @ V",),
    "A6": ("difference * difference", "score("),
    "B1 B3": ("return y",),
    "B5": ("sqrt",),
    "B6": ("/ temperature",),
    "C1": ("tri(",),
    "D2": ("r = ", "score("),
}
CHECK = re.compile(r"(checks\.\w+\(|raise |if not callable|\w+(, \w+)* = check)")
TERMS = {
    "query": "q Q query queries", "key": "k K key keys", "value": "v V value values",
    "weight": "A weights", "score": "S scores score",
}  # fmt: skip
CLASS = {word: term for term, words in TERMS.items() for word in words.split()}
NAMES = re.compile(rf"\b({'|'.join(CLASS)})\b")


def excerpt_html(claim, root):
    """Return the lines that deliver a claim as HTML, under a link to their file; `root`
    is the way from the page to the folder of the packages."""
    source = inspect.unwrap(claim.source)
    name = Path(inspect.getsourcefile(source)).relative_to(ROOT).as_posix()
    lines = excerpt(source, claim.number)
    here = marked(lines, claim.number)
    lines = "\n".join(
        f"<mark>{coloured(line)}</mark>" if i == here else coloured(line)
        for i, line in enumerate(lines)
    )
    return (
        f'<div class="lines"><a href="{root}/{name}">{name}</a>'
        f'<pre tabindex="0">{lines}</pre></div>\n'
    )


def excerpt(source, number):
    """Return the lines of a function or class that deliver the claim of a number."""
    lines = Path(inspect.getsourcefile(source)).read_text("utf-8").split("\n")
    first, last = PARTS.get(f"{number[0]} {source.__name__}", ("", None))
    start = next((i for i, line in enumerate(lines) if first in line), 0)
    for end in range(start, len(lines)):
        if last and last in lines[end]:
            return textwrap.dedent("\n".join(lines[start : end + 1])).split("\n")
    return body_of(textwrap.dedent(inspect.getsource(source)))


def marked(lines, number):
    """Return the index of the line that the claim of a number comes down to, or None."""
    for numbers, texts in MARKS.items():
        if number in numbers.split():
            for i, line in enumerate(lines):
                code = line.partition("#")[0]
                if any(text in code for text in texts) and "def " not in code:
                    return i
    return None


def body_of(text):
    """Return the lines of a definition, without decorators, docstring and checks."""
    (definition,), lines = ast.parse(text).body, text.split("\n")
    first, *_ = statements = definition.body
    kept = lines[definition.lineno - 1 : first.lineno - 1]
    if ast.get_docstring(definition) is not None:
        statements = statements[1:]
    done = first.end_lineno if first not in statements else first.lineno - 1
    for statement in statements:
        if not CHECK.match(lines[statement.lineno - 1].strip()):
            kept += filter(str.strip, lines[done : statement.end_lineno])
        done = statement.end_lineno
    return kept


def coloured(line):
    """Return a line of code as HTML, its terms in their colours and its comment soft."""
    code, mark, comment = line.partition("  #")
    html = NAMES.sub(
        lambda m: f'<span class="{CLASS[m[0]]}">{m[0]}</span>',
        escape(code, quote=False),
    )
    return html + (f"<i>{mark}{escape(comment, quote=False)}</i>" if mark else "")
