"""The third widget: scores to drag, a scale, and what moves the weight of one key."""

import math

import numpy as np

from . import Widget
from .template import drawn

LOW, HIGH = -2.0, 3.0  # powers of ten of the scale
POWERS = np.linspace(LOW, HIGH, 101)
DEEP = 46  # the lower graph ends at 10^-46, below float32's smallest number, 2^-149
WIDE, TALL = 320, 150  # pixels of a graph
GONE = 150 * math.log(2)  # e^-103.97 is half of that smallest number, and becomes 0


def widget(scores, pulled, scale, weights, gradient, sizes):
    """Return the widget, drawn with the engine's weights (m,) and gradient (m,) of the
    weight of one key, and with the sizes of that gradient at the scales 10^POWERS."""
    size, largest = np.linalg.norm(gradient), max(sizes)
    gaps = scores.max() - scores
    state = {
        "scores": scores,
        "pulled": str(pulled + 1),
        "scale": scale,
        "weights": weights,
        "gradient": gradient,
        "size": size,
        "share": curve(TALL * (1 - sizes / largest)),
        "powers": curve([sunk(x) for x in sizes]),
        "here": across(math.log10(scale)),
        "height": TALL * (1 - size / largest),
        "depth": sunk(size),
        "cut": across(math.log10(GONE / (gaps[pulled] or sorted(gaps)[1]))),
        "lost": str(sum(gaps * scale > GONE)),
    }
    html = page(scores, pulled, scale)
    return Widget("sharpen", {"scores": scores.tolist()}, drawn(html, state))


def across(power):
    return WIDE * (power - LOW) / (HIGH - LOW)


def sunk(size):
    """Return how far below 1 a size is drawn, in pixels, by its power of ten."""
    power = math.log10(size) if size > 0 else -DEEP
    return TALL * min(-power / DEEP, 1)


def curve(heights):
    places = zip(map(across, POWERS), heights, strict=True)
    return "M" + " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def page(scores, pulled, scale):
    rows = "".join(row(i, s, i == pulled) for i, s in enumerate(scores))
    return f"""<div class="widget sharpen" id="widget-sharpen">
<fieldset disabled><legend class="unseen">Scores, scale, and the weight to raise</legend>
<table><thead><tr><th scope="col">raise</th>
<th scope="col"><span class="score">score s</span></th>
<th scope="col"><span class="weight">weight α</span></th>
<th scope="col">gradient ∂α<sub :text="[pulled]"></sub>/∂s</th></tr></thead>
<tbody>{rows}</tbody></table>
<label for="sharpen-power">Scale of all scores, c = 1/T
<output :text="c = [scale:2]"></output></label>
<input type="range" name="power" id="sharpen-power" min="{LOW}" max="{HIGH}" step="0.01"
value="{math.log10(scale):.4f}" :aria-valuetext="c = [scale:2]">
</fieldset>
<div class="pair">{graphs()}</div>
<p aria-live="polite">Size of the gradient: <b :text="[size:2e]"></b>. Weights that are
exactly 0 in float32: <b :text="[lost]"></b> of {len(scores)}.</p>
</div>
"""


def row(i, score, chosen):
    return f"""<tr><th scope="row"><label class="target"><input type="radio" name="pulled"
value="{i}"{" checked" if chosen else ""}><span class="key">k<sub>{i + 1}</sub></span>
</label></th>
<td><input type="range" name="score{i}" min="-3" max="3" step="0.1" value="{score}"
aria-label="score of key {i + 1}"><span class="digits" :text="[scores.{i}:1]"></span></td>
<td><span class="bar" :style="--w:[weights.{i}]"></span><span class="digits"
:text="[weights.{i}:2e]"></span></td>
<td><span class="signed"><i :style="--w:[gradient.{i}]"></i></span><span class="digits"
:text="[gradient.{i}:2e]"></span></td></tr>
"""


def graphs():
    """Return the size of the gradient against the scale, as it is and by powers."""
    share = "".join(level(TALL * (1 - y), text) for y, text in ((0, "0"), (1, "1")))
    powers = "".join(
        level(TALL * p / DEEP, f'10<tspan class="high" dy="-5">−{p}</tspan>')
        for p in (0, 15, 30, 45)
    ).replace("−0<", "0<")
    cut = f"""<g :transform="translate([cut] 0)"><rect class="beyond" width="{2 * WIDE}"
height="{TALL}"/><text class="caption" x="5" y="14">exactly 0</text></g>"""
    return "".join(
        graph(*words)
        for words in (
            ("share of its largest", share, "share", "height"),
            ("by powers, and where float32 ends", powers + cut, "powers", "depth"),
        )
    )


def level(y, text):
    return (
        f'<text x="-6" y="{y + 4:.0f}" text-anchor="end">{text}</text>'
        f'<line class="level" x2="{WIDE}" y1="{y:.1f}" y2="{y:.1f}"/>'
    )


def graph(title, levels, line, height):
    ticks = "".join(
        f'<text x="{across(p):.0f}" y="{TALL + 17}" text-anchor="middle">{number}</text>'
        for p, number in zip(
            range(-2, 4), ("0.01", "0.1", 1, 10, 100, "c"), strict=True
        )
    )
    return f"""<svg viewBox="-44 -26 {WIDE + 56} {TALL + 48}" role="img"
aria-label="Size of the gradient against the scale, {title}">
<text class="caption" x="0" y="-10">‖∂α/∂s‖, {title}</text>{levels}{ticks}
<path class="curve" :d="[{line}]"/>
<g :transform="translate([here] [{height}])"><circle class="now" r="6"/></g></svg>
"""
