"""Templates: text with fields, filled in by Python first and by JavaScript afterwards.

    [answer.0]      a number in an attribute, to four decimals
    [answer.0:2]    a number to be read, to two decimals, with a minus sign
    [answer.0:2e]   the same, and as 3·10⁻⁷ where two decimals would show nothing
    [name]          a text

`fill` in widgets.js does the same; a test fills both with the same numbers.
"""

import re
from html import escape

FIELD = re.compile(r"\[([a-zA-Z][\w.]*)(?::(\d)(e?))?\]")
TEXT = re.compile(r'\s:text="([^"]*)"([^>]*)>')
ATTRIBUTE = re.compile(r'\s:([\w-]+)="([^"]*)"')
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def fill(template, values):
    """Return the template with its fields filled in; values are dicts and lists."""

    def field(match):
        path, digits, small = match.groups()
        value = values
        for key in path.split("."):
            value = value[int(key) if key.isdigit() else key]
        if isinstance(value, str):
            return value
        return f"{value:.4f}" if digits is None else written(value, int(digits), small)

    return FIELD.sub(field, template)


def written(x, digits, small=False):
    """Return a number as it is read, with a minus sign and no negative zero."""
    if small and 0 < abs(x) < 0.5 * 10**-digits:
        mantissa, exponent = f"{x:.0e}".split("e")
        return f"{mantissa}·10{str(int(exponent)).translate(RAISED)}".replace("-", "−")
    text = f"{x:.{digits}f}"
    return text.replace("-", "−") if text.strip("-0.") else text.removeprefix("-")


def drawn(html, values):
    """Return HTML in which `:cx="[x]"` has become `data-cx="[x]" cx="0.3"`, filled in,
    and `:text="[x:2]"` the text of its element."""
    html = TEXT.sub(
        lambda m: f' data-text="{m[1]}"{m[2]}>{escape(fill(m[1], values))}', html
    )
    return ATTRIBUTE.sub(
        lambda m: f' data-{m[1]}="{m[2]}" {m[1]}="{escape(fill(m[2], values))}"', html
    )
