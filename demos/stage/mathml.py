"""Formulas for the page: a claim's formula, in matplotlib's mathtext, becomes MathML,
which browsers set and screen readers read, and what a sentence holds of mathematics is
set in HTML. The terms have their colours: queries, keys, values, scores and weights.
"""

import re
from html import escape

TERMS = {"q": "query", "k": "key", "v": "value", "s": "score", "α": "weight"}
TERMS |= {"Q": "query", "K": "key", "V": "value"}  # S is more than scores
SYMBOLS = {
    "alpha": "α", "beta": "β", "sigma": "σ", "lambda": "λ", "eta": "η", "Delta": "Δ",
    "partial": "∂", "infty": "∞", "star": "⋆", "prime": "′", "ell": "ℓ", "theta": "θ",
    "mu": "μ", "epsilon": "ε", "gamma": "γ", "delta": "δ", "rho": "ρ", "nabla": "∇",
}  # fmt: skip
OPERATORS = {
    "sum": "∑", "cdot": "·", "dots": "…", "odot": "⊙", "in": "∈", "times": "×",
    "leq": "≤", "geq": "≥", "neq": "≠", "approx": "≈", "rightarrow": "→", "to": "→",
    "leftarrow": "←", "Rightarrow": "⇒", "|": "‖", "ne": "≠", "ldots": "…", "top": "⊤",
    "propto": "∝", "sim": "∼", "pm": "±", "langle": "⟨", "rangle": "⟩",
}  # fmt: skip
SPACES = {",": 0.17, " ": 0.3, ";": 0.28, "quad": 1, "!": 0}  # in em
TOKEN = re.compile(r"\\([A-Za-z]+|.)|([A-Za-z]+)|(\d+(?:\.\d+)?)|\s+|(.)", re.DOTALL)
NAME = re.compile(r"<mi>\w{2,}</mi>")
BREAK = re.compile(r"(?<=,)\\ |(?<=,)\\quad|\\;(?=\\Rightarrow)|(?=\\Rightarrow)")


def formula(text):
    """Return the HTML of text with formulas between dollar signs, as claims have them.

    A line may be broken after a comma and before an arrow, but not within a formula.
    """
    html = []
    for i, part in enumerate(text.split("$")):
        if i % 2:
            html += [math(piece) for piece in BREAK.split(part) if piece.strip()]
        else:
            html.append(escape(part.strip()))
    return " ".join(filter(None, html))


def math(text):
    """Return one formula as a <math> element."""
    tokens = [m for m in TOKEN.finditer(text) if not m[0].isspace()]
    html = f"<math>{row(tokens)}</math>"
    if not re.search("query|value|weight|score", html):
        html = html.replace(' class="key"', "")  # this k is the width of a kernel
    return html


def row(tokens, end=None):
    """Return what the tokens up to `end` set, taking them from the list."""
    parts = []
    while tokens and tokens[0][0] != end:
        parts.append(scripted(tokens))
    if end:
        if not tokens:
            raise ValueError(f"formula: no {end} closes the group")
        tokens.pop(0)
    html = ""
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        html += part
        if NAME.fullmatch(part) and following.startswith(("<mi", "<mn", "<msu", "<mf")):
            html += space(",")  # log x, but log(x)
    return html


def scripted(tokens):
    """Return the next atom with what stands below and above it."""
    base, low, high = atom(tokens), "", ""
    while tokens and tokens[0][0] in ("_", "^"):
        below = tokens.pop(0)[0] == "_"
        if tokens[0][2] and len(tokens[0][2]) > 1:  # of x^TG only the T is raised
            letter, rest = tokens[0][2][0], tokens[0][2][1:]
            tokens[:1] = [TOKEN.match(letter), TOKEN.match(rest)]
        low, high = (atom(tokens), high) if below else (low, atom(tokens))
    over = "∑" in base or base == "<mi>min</mi>"
    if low and high:
        tag = "munderover" if over else "msubsup"
        return f"<{tag}>{base}{low}{high}</{tag}>"
    if low or high:
        tag = ("munder" if over else "msub") if low else "msup"
        return f"<{tag}>{base}{low or high}</{tag}>"
    return base


def atom(tokens):
    """Return the next atom: an identifier, a number, an operator, or a group."""
    token = tokens.pop(0)
    command, letters, number, sign = token.groups()
    if number:
        return f"<mn>{number}</mn>"
    if letters:
        return word(letters)
    if sign == "{":
        return f"<mrow>{row(tokens, '}')}</mrow>"
    if sign:
        return f"<mo>{escape('−' if sign == '-' else sign)}</mo>"
    if command == "frac":
        return f"<mfrac>{atom(tokens)}{atom(tokens)}</mfrac>"
    if command == "sqrt":
        return f"<msqrt>{atom(tokens)}</msqrt>"
    if command == "bar":
        return f"<mover>{atom(tokens)}<mo>¯</mo></mover>"
    if command in ("left", "right"):
        return atom(tokens)
    if command in SPACES:
        return space(command)
    if command in OPERATORS:
        return f"<mo>{OPERATORS[command]}</mo>"
    return identifier(SYMBOLS.get(command, command))


def space(command):
    return f'<mspace width="{SPACES[command]}em"></mspace>'


def word(letters):
    """Return letters: a name such as softmax if they can be read aloud, else a product."""
    if len(letters) > 2 and re.search("[aeiou]", letters):
        return identifier(letters)
    product = "".join(map(identifier, letters))
    return product if len(letters) == 1 else f"<mrow>{product}</mrow>"


def identifier(name):
    term = TERMS.get(name)
    return f'<mi class="{term}">{name}</mi>' if term else f"<mi>{name}</mi>"


# x_i, x_(i + 1), x_{i<t}, out_t and d_model, but neither soft_lookup nor max_norm
SUB = re.compile(
    r"(?<![\w.])(?:([A-Za-zα-ωΑ-Ω∂])_(\w+)|([A-Za-zα-ω]+|Σ)_(\w|\([^()]*\)|{[^{}]*}|&lt;\w))(?!\w)"
)
POWER = re.compile(r"(\d)e([-−+])0*(\d*)(?!\w)")  # 3e-07, and 0e+00
SUP = re.compile(r"\^\(((?:[^()]|\([^()]*\))*)\)|\^(-?[\w.]+)")
MINUS = re.compile(r"(?<= )-(?= )|(?<![\w)])-(?=[\d.])|(?<=[(\[/=^])-(?=\w)")
LOW = "[ᵢⱼₗ₀-₉]"
TERM = re.compile(
    rf"(?<![\w'’.&-])(?:[qQKVα](?=$|[^\w'-]|{LOW})|[kvs](?={LOW}|<sub>|\(q)|(?<=· )k)"
)


def prose(text):
    """Return the HTML of a text: code between backquotes, mathematics as it is read."""
    parts = text.split("`")
    return "".join(
        f"<code>{escape(part)}</code>" if i % 2 and len(parts) % 2 else typeset(part)
        for i, part in enumerate(parts)
    )


def typeset(text):
    """Return the HTML of a text whose mathematics is in plain letters: e^(-x), d_k."""
    text = POWER.sub(power, MINUS.sub("−", escape(text, quote=False)))
    text = SUB.sub(lowered, text)
    text = SUP.sub(lambda m: f"<sup>{m[1] or m[2]}</sup>", text)
    return TERM.sub(lambda m: f'<i class="{TERMS[m[0]]}">{m[0]}</i>', text)


def lowered(match):
    base, low = match[1] or match[3], match[2] or match[4]
    return f"{base}<sub>{low.strip('(){}').replace('-', '−')}</sub>"


def power(match):
    sign = "" if match[2] == "+" else "−"
    return f"{match[1]} · 10<sup>{sign}{match[3]}</sup>" if match[3] else match[1]
