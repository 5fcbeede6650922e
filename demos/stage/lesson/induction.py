"""The fifth widget: what two layers that learned to copy read, letter by letter."""

import numpy as np

from . import Widget
from .template import drawn

CELL, LENGTH = 28, 24  # pixels, letters at most
TEXTS = {  # a beginning, then a word twice; no letter comes twice in either
    "question": "abcdfghjquestionquestion",
    "blacksmith": "fonrblacksmithblacksmith",
    "pencil": "hadfgjkmoqrspencilpencil",
}


def widget(letters, state, text, step, weights, following):
    """Return the widget; `state` are the parameters by name, weights two rows (T,) of
    the engine's, and `following` its probabilities of the next letter (24,)."""
    heads = [
        {name: state[f"layers.{i}.{name}.weight"].tolist() for name in HEAD}
        | {"norm": state[f"norms.{i}.weight"].tolist()}
        for i in range(2)
    ]
    data = {
        "letters": letters,
        "embedding": state["letters.weight"].tolist(),
        "layers": heads,
        "norm": state["last_norm.weight"].tolist(),
        "output": state["output.weight"].tolist(),
    }
    rows = [np.append(row, np.zeros(LENGTH - step - 1)) for row in weights]
    keys = [int(row.argmax()) for row in rows]
    before = text[:step].rfind(text[step])
    values = {
        "letter": list(text),
        "step": step,
        "query": text[step],
        "first": rows[0],
        "second": rows[1],
        "read": [text[key] for key in keys],
        "sure": [row[key] for row, key in zip(rows, keys, strict=True)],
        "arcs": [arc(step, key) for key in keys],
        "here": CELL * step,
        "place": CELL * (before + 1) if before >= 0 else -999,
        "guess": letters[int(following.argmax())],
        "chance": following.max(),
        "fact": text[step + 1],
        "last": str(len(text) - 1),
    }
    return Widget("induction", data, drawn(page(text, step), values))


HEAD = "query", "key", "value", "output"


def arc(query, key):
    """Return an arc over the letters, the higher the farther it leads."""
    start, end = CELL * (query + 0.5), CELL * (key + 0.5)
    height = 0.3 * (end - start) - 14
    return f"M{start:g} 0Q{(start + end) / 2:g} {height:.1f} {end:g} 0"


def page(text, step):
    buttons = "".join(
        f'<button type="button" name="sequence" value="{text}">{word}</button>'
        for word, text in TEXTS.items()
    )
    readings = "; ".join(
        f'layer {i + 1} reads <b class="key" :text="[read.{i}]"></b>'
        f' <span class="weight" :text="[sure.{i}:2]"></span>'
        for i in range(2)
    )
    return f"""<div class="widget induction" id="widget-induction">
<fieldset disabled><legend class="unseen">A text, and a letter of it</legend>
<label for="induction-sequence">A word twice, or letters a to x of your own</label>
<div class="choice">{buttons}<input type="text" name="sequence" id="induction-sequence"
value="{text}" maxlength="{LENGTH}" spellcheck="false" autocapitalize="off"
autocomplete="off"></div>
<label for="induction-step">The letter that asks</label>
<div class="choice"><input type="range" name="step" id="induction-step" min="0"
:max="[last]" value="{step}" :aria-valuetext="[query]">
<button type="button" name="step" value="up">next letter</button></div></fieldset>
{picture()}
<p aria-live="polite">At <b class="query" :text="[query]"></b> {readings}. It expects
<b :text="[guess]"></b> (<span :text="[chance:2]"></span>); what follows is
<b :text="[fact]"></b>.</p>
</div>
"""


def picture():
    """Return the letters, an arc from the query to the key that it reads most in each
    layer, and the weights of all keys."""
    letters = "".join(
        f'<text x="{CELL * (i + 0.5)}" y="22" :text="[letter.{i}]"></text>'
        for i in range(LENGTH)
    )
    rows = "".join(
        f'<text class="caption" x="0" y="{top - 6}">layer {i + 1}: {looks}</text>'
        + "".join(
            f'<rect class="cell" x="{CELL * j}" y="{top}" width="{CELL - 2}" height="22"/>'
            f'<rect class="weight" x="{CELL * j}" y="{top}" width="{CELL - 2}" height="22"'
            f' :fill-opacity="[{name}.{j}]"/>'
            for j in range(LENGTH)
        )
        for i, (name, top, looks) in enumerate(
            [
                ("first", 62, "one back"),
                (
                    "second",
                    114,
                    "at what followed this letter the last time (outlined)",
                ),
            ]
        )
    )
    return f"""<svg viewBox="-4 -100 {CELL * LENGTH + 8} 242" role="img"
aria-label="The text; arcs lead from the letter that asks to those it reads">
<rect class="here" y="0" width="{CELL - 2}" height="30" :x="[here]"/>
<path class="arc" :d="[arcs.0]"/><path class="arc second" :d="[arcs.1]"/>
{letters}{rows}
<rect class="place" y="112" width="{CELL + 2}" height="26" :x="[place]"/></svg>"""
