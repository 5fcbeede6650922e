"""The first widget: a query dragged among five keys, and the gradient of its answer."""

import numpy as np

from ..drawing import hull
from . import Widget
from .template import drawn

# Pixels to 1: the planes are 240 wide, with the origin in the middle and y upwards.
KEYS, VALUES = 82, 50


def widget(keys, values, temperature, query, weights, answer, jacobian):
    """Return the widget, drawn with the engine's weights (m,), answer (2,) and
    jacobian (2, 2) at a query (2,) and a temperature."""
    state = {
        "x": query[0],
        "y": query[1],
        "power": np.log10(temperature),
        "temperature": temperature,
        "scores": keys @ query,
        "weights": weights,
        "answer": answer,
        "jacobian": jacobian,
        "size": np.linalg.norm(jacobian, 2),
    }
    data = {"keys": keys.tolist(), "values": values.tolist()}
    return Widget("lookup", data, drawn(html(keys, values, state), state))


def html(keys, values, state):
    places = range(len(keys))
    terms = " + ".join(
        f'<span class="weight" :text="[weights.{i}:2]"></span>&#8239;'
        f'<span class="value">v<sub>{i + 1}</sub></span>'
        for i in places
    )
    return f"""<div class="widget lookup" id="widget-lookup">
{plane_of_keys(keys)}
<table class="terms"><thead><tr><th scope="col">key</th>
<th scope="col"><span class="score">score</span> q·k</th>
<th scope="col"><span class="weight">weight α</span></th></tr></thead>
<tbody>{"".join(map(row, places))}</tbody></table>
{plane_of_values(values)}
<fieldset class="controls" disabled><legend class="unseen">Query and temperature</legend>
<input type="hidden" name="x" value="{state["x"]:.4f}">
<input type="hidden" name="y" value="{state["y"]:.4f}">
<label for="lookup-power">Temperature
<output :text="T = [temperature:2]"></output></label>
<input type="range" name="power" id="lookup-power" min="-2" max="1" step="0.01"
value="{state["power"]:.4f}" :aria-valuetext="T = [temperature:2]">
<span class="ends"><button type="button" name="power" value="-2">hard, T = 0.01</button>
<button type="button" name="power" value="1">mean, T = 10</button></span>
</fieldset>
<p class="sum" aria-live="polite"><b>attn</b> = {terms}
= <b :text="([answer.0:2], [answer.1:2])"></b><br>
<span class="query">size of the gradient ‖∂attn/∂q‖
= <b :text="[size:2e]"></b></span></p>
</div>
"""


def row(i):
    return (
        f'<tr><th scope="row" class="key">k<sub>{i + 1}</sub></th>'
        f'<td :text="[scores.{i}:2]"></td>'
        f'<td><span class="bar" :style="--w:[weights.{i}]"></span>'
        f'<span :text="[weights.{i}:2]"></span></td></tr>'
    )


def plane_of_keys(keys):
    """Return the plane in which the query moves; each key as dark as its weight."""
    marks = "".join(
        f'<circle class="disc" cx="{KEYS * x:.1f}" cy="{-KEYS * y:.1f}" r="17"/>'
        f'<circle class="weight" cx="{KEYS * x:.1f}" cy="{-KEYS * y:.1f}" r="17"'
        f' :fill-opacity="[weights.{i}]"/>'
        f"{name('k', i, KEYS * x, -KEYS * y)}"
        for i, (x, y) in enumerate(keys)
    )
    return f"""<svg viewBox="-120 -120 240 240" role="group" aria-label="The query among
five keys"><title>Drag the query among the keys</title>
<text class="caption" x="-116" y="-106">query and keys</text>
<circle class="axis" r="{KEYS}"/>{marks}
<g class="frame" transform="scale({KEYS} {-KEYS})">
<line class="arrow" :x2="[x]" :y2="[y]"/>
<g class="handle" tabindex="0" role="slider" aria-label="Query: arrow keys move it"
aria-valuemin="-1.4" aria-valuemax="1.4" :aria-valuenow="[x]"
:aria-valuetext="[x:2] right, [y:2] up" :transform="translate([x] [y])">
<circle class="reach" r="{33 / KEYS:.3f}"/><circle class="dot" r="{8 / KEYS:.3f}"/>
<text transform="scale({1 / KEYS:.5f} {-1 / KEYS:.5f})" y="5" x="14">q</text>
</g></g></svg>"""


def plane_of_values(values):
    """Return the plane of the answer, in the hull of the values, with the ellipse into
    which the gradient turns a circle of radius 0.3 around the query."""
    away = values - values.mean(axis=0)  # (m, 2): where a name stands, beside its value
    named = VALUES * values + 15 * away / np.linalg.norm(away, axis=1, keepdims=True)
    marks = "".join(
        f'<circle class="value" cx="{VALUES * x:.1f}" cy="{-VALUES * y:.1f}" r="5"/>'
        f"{name('v', i, named[i, 0], -named[i, 1])}"
        for i, (x, y) in enumerate(values)
    )
    corners = " ".join(f"{VALUES * x:.1f},{-VALUES * y:.1f}" for x, y in hull(values))
    ellipse = "[jacobian.0.0] [jacobian.1.0] [jacobian.0.1] [jacobian.1.1]"
    return f"""<svg viewBox="-120 -120 240 240" role="img" aria-label="The answer in the
hull of the values, and the ellipse of its gradient">
<text class="caption" x="-116" y="-106">values and answer</text>
<polygon class="hull" points="{corners}"/>{marks}
<g transform="scale({VALUES} {-VALUES})">
<circle class="gradient" r="0.3"
:transform="matrix({ellipse} [answer.0] [answer.1])"/>
<circle class="answer" :cx="[answer.0]" :cy="[answer.1]" r="{6 / VALUES:.3f}"/>
</g></svg>"""


def name(letter, i, x, y):
    kind = {"k": "key", "v": "value"}[letter]
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y + 5:.1f}">'
        f'{letter}<tspan class="low" dy="4">{i + 1}</tspan></text>'
    )
