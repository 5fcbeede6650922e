"""The second widget: 67 queries to 40 capitals, two heads, and the answer on a map."""

from html import escape

import numpy as np

from . import Widget
from .template import drawn

WEST, EAST, SOUTH, NORTH = -128, 180, -52, 76  # of the map, in degrees
ACROSS, UP = 2.4, 3.0  # pixels to a degree of longitude, of latitude


def widget(data, scores, query, temperature, mix, weights, answer, land):
    """Return the widget; `scores` are those of the heads meaning and letters, (n, m)
    each, weights (m,) and answer (2,) the engine's for a query, its row."""
    keys, queries, countries = (
        data[name].tolist() for name in ("key_text", "query_text", "value_text")
    )
    places = data["value_numbers"][:, :2]
    state = {
        "power": np.log10(temperature),
        "temperature": temperature,
        "mix": mix,
        "weights": weights,
        "wide": 9 * weights,
        "answer": answer,
        "text": queries[query],
        "found": found(queries[query], keys, countries),
        "top": [
            {"name": countries[i], "weight": weights[i], "place": places[i]}
            for i in np.argsort(-weights, kind="stable")[:3]
        ],
    }
    constants = {
        "meaning": scores[0].tolist(),
        "letters": scores[1].tolist(),
        "values": places.tolist(),
        "keys": keys,
        "queries": queries,
        "countries": countries,
    }
    options = choices(queries, data["query_kind"].tolist(), query)
    html = page(options, world(places, keys, land), chips(keys), state)
    return Widget("capitals", constants, drawn(html, state))


def found(query, keys, countries):
    return countries[keys.index(query)] if query in keys else "nothing"


def page(options, world, chips, state):
    top = ", ".join(
        f'<span :text="[top.{i}.name]"></span>'
        f' <span class="weight" :text="[top.{i}.weight:2]"></span>'
        for i in range(3)
    )
    return f"""<div class="widget capitals" id="widget-capitals">
<fieldset class="controls" disabled><legend class="unseen">What to ask, and how</legend>
<div><label for="capitals-query">The query</label>
<select name="query" id="capitals-query">{options}</select></div>
<div><label for="capitals-mix">Share of the letters
<output :text="[mix:2]"></output></label>
<input type="range" name="mix" id="capitals-mix" min="0" max="1" step="0.01"
value="{state["mix"]}"><span class="ends"><span>meaning alone</span>
<span>letters alone</span></span></div>
<div><label for="capitals-power">Temperature
<output :text="T = [temperature:2]"></output></label>
<input type="range" name="power" id="capitals-power" min="-2" max="1" step="0.01"
value="{state["power"]:.4f}" :aria-valuetext="T = [temperature:2]"><span class="ends">
<span>hard</span><span>mean</span></span></div>
</fieldset>
<dl aria-live="polite"><div><dt>dict["<span :text="[text]"></span>"]</dt>
<dd :text="[found]"></dd></div>
<div><dt>soft lookup</dt><dd>{top}</dd></div></dl>
{world}
{chips}
</div>
"""


def choices(queries, kinds, chosen):
    """Return the queries as options, in a group for each kind."""
    groups = []
    for kind in dict.fromkeys(kinds):
        options = "".join(
            f'<option value="{i}"{" selected" if i == chosen else ""}>{escape(text)}'
            for i, text in enumerate(queries)
            if kinds[i] == kind
        )
        label = kind.replace("_", " ")
        groups.append(f'<optgroup label="{label}">{options}</optgroup>')
    return "".join(groups)


def chips(keys):
    """Return the keys, each with a bar as long as its weight behind it."""
    items = "".join(
        f'<li :style="--w:[weights.{i}]">{escape(key)}</li>'
        for i, key in enumerate(keys)
    )
    return f'<ul class="chips" aria-label="The 40 keys">{items}</ul>'


def world(places, keys, land):
    """Return the map: a disc at each value, as dark as its weight, and the answer, tied
    to them by lines as wide."""
    halves = f'transform="scale({1 / ACROSS:.5f} {-1 / UP:.5f})"'  # back to pixels
    lines = "".join(
        f'<line x1="{east:.1f}" y1="{north:.1f}" :x2="[answer.1]" :y2="[answer.0]"'
        f' :stroke-width="[wide.{i}]"/>'
        for i, (north, east) in enumerate(places)
    )
    discs = "".join(
        f'<g transform="translate({east:.1f} {north:.1f})"><g {halves}>'
        f'<title>{escape(key)}</title><circle class="key" r="2.5"/>'
        f'<circle class="weight" r="10" :fill-opacity="[weights.{i}]"/></g></g>'
        for i, ((north, east), key) in enumerate(zip(places, keys, strict=True))
    )
    size = f"{ACROSS * (EAST - WEST):.0f} {UP * (NORTH - SOUTH):.0f}"
    return f"""<svg viewBox="0 0 {size}" role="img"
aria-label="The answer on a map, drawn to the countries of most weight">
<g transform="scale({ACROSS} {-UP}) translate({-WEST} {-NORTH})">
<path class="land" d="{outlines(land)}"/><g class="ties">{lines}</g>{discs}
<g :transform="translate([answer.1] [answer.0])"><circle class="answer" r="7" {halves}/>
</g>
<g :transform="translate([top.0.place.1] [top.0.place.0])"><text y="-14"
{halves} :text="[top.0.name]"></text></g>
</g></svg>"""


def outlines(land):
    """Return rings of corners (n, 2) in degrees as a path in whole degrees."""
    parts = []
    for ring in land:
        corners = np.rint(ring).astype(int)  # (n, 2)
        steps = np.diff(corners, axis=0)
        steps = steps[steps.any(axis=1)]
        if len(steps) > 3 and corners[:, 1].max() > SOUTH:
            (x, y), moves = corners[0], " ".join(f"{a} {b}" for a, b in steps[:-1])
            parts.append(f"M{x} {y}l{moves}z".replace(" -", "-"))
    return "".join(parts)
