"""The fourth widget: the ways from an output back to one input, in recorded graphs."""

import numpy as np

from minigrad import graph

from . import Widget
from .template import drawn

WIDE, TALL = 210, 190  # pixels of a graph
NS = 3, 9, 27


def widget(graphs, n):
    """Return the widget; `graphs` is {layer: {n: (inputs, flow)}}, the Tensors x₁ … xₙ,
    and the gradient's flow from the last output down to them."""
    recorded = {
        layer: {m: record(*pair) for m, pair in sizes.items()}
        for layer, sizes in graphs.items()
    }
    layers = {}
    for layer, sizes in graphs.items():
        inputs, flow = sizes[n]
        lengths = dict.fromkeys(graph.path_lengths(flow.output, inputs[0]))
        layers[layer] = {
            "ops": " to ".join(map(str, lengths)),
            "size": np.linalg.norm(flow.gradients[inputs[0]]),
        }
    state = {"n": n, "last": str(n), "position": "1", "layers": layers}
    tallest = {
        m: max(max(heights(*sizes[m]).values()) for sizes in graphs.values())
        for m in NS
    }
    html = page([panel(name, graphs[name], tallest, n) for name in graphs], n)
    return Widget("paths", recorded, drawn(html, state))


def record(inputs, flow):
    """Return a graph as numbers: the edges from the output (0) down that lie on a way to
    an input, each [from, to, what the input gets from it, if `to` is one]."""
    number = {t: i for i, t in enumerate(flow.gradients)}
    leaves, edges = set(inputs), []  # a set finds a Tensor by what it is, not by value
    for t, i, x in ways(inputs, flow):
        passing = flow.contributions[t, i].ravel().tolist() if x in leaves else []
        edges.append([number[t], number[x], passing])
    return {"inputs": [number[x] for x in inputs], "edges": edges}


def ways(inputs, flow):
    """Return (t, i, x), from the output down, where x is the i-th input of t and leads
    to one of the inputs."""
    leads, found = set(inputs), []
    for t, i in reversed(flow.contributions):
        x = t.inputs[i]
        if x in leads:
            leads.add(t)
            found.append((t, i, x))
    return found[::-1]


def page(panels, n):
    sizes = "".join(
        f'<label class="target"><input type="radio" name="n" value="{m}"'
        f"{' checked' if m == n else ''}>{m}</label>"
        for m in NS
    )
    return f"""<div class="widget paths" id="widget-paths">
<fieldset disabled><legend class="unseen">How many positions, and which</legend>
<div class="choice" role="radiogroup" aria-label="positions n"><b>n =</b>{sizes}</div>
<div><label for="paths-position">The way back to
<output :text="x[position]"></output></label>
<input type="range" name="position" id="paths-position" min="1" :max="[last]" value="1"
:aria-valuetext="x[position] of [last]"></div></fieldset>
<div class="panels">{"".join(panels)}</div>
<p>The wider a line, the larger the gradient that passes. Short is not large: the way
through attention is short, and its gradient thin, for n keys share it. The way through
convolutions is long, and wide where no relu closes it.</p>
</div>
"""


def panel(layer, graphs, tallest, n):
    """Return the graphs of one layer, of which one is shown, and what is found in it."""
    drawings = "".join(
        f'<g class="graph{" shown" if m == n else ""}" data-n="{m}">'
        + drawing(*graphs[m], WIDE / (m - 1), TALL / tallest[m])
        + "</g>"
        for m in NS
    )
    return f"""<figure><svg viewBox="-10 -14 {WIDE + 24} {TALL + 28}" role="img"
aria-label="The graph of {layer}, the ways to the chosen input marked" data-layer="{layer}">
{drawings}</svg><figcaption><b>{layer}</b><br>
<span :text="[layers.{layer}.ops]"></span> ops long, size <span class="query" :text="[layers.{layer}.size:3e]"></span></figcaption>
</figure>
"""


def heights(inputs, flow):
    """Return {Tensor: ops on the longest way up to it from an input}."""
    height = dict.fromkeys(inputs, 0)
    for t, _, x in reversed(ways(inputs, flow)):
        height[t] = max(height.get(t, 0), height[x] + 1)
    return height


def drawing(inputs, flow, step, op):
    """Return the ways as lines, as wide as the gradient that passes, over a row of the
    inputs; a Tensor stands over the last input it was made from."""
    place = {x: i for i, x in enumerate(inputs)}
    found = ways(inputs, flow)
    for t, _, x in reversed(found):
        place[t] = max(place.get(t, 0), place[x])
    height = heights(inputs, flow)

    def at(t):
        return f"{step * place[t]:.1f} {TALL - op * height[t]:.1f}"

    first = {t for t, *_ in ways(inputs[:1], flow)} | {inputs[0]}
    lines = "".join(
        f'<path class="{"on" if x in first else ""}" d="M{at(t)}L{at(x)}"'
        f' stroke-width="{wide(flow.contributions[t, i])}"/>'
        for t, i, x in found
    )
    dots = "".join(
        f'<circle class="{"on" if i == 0 else ""}" cx="{step * i:.1f}" cy="{TALL}"'
        f' r="{min(5, step / 3):.1f}"/>'
        for i in range(len(inputs))
    )
    x, y = at(flow.output).split()
    return f'{lines}{dots}<circle class="answer" cx="{x}" cy="{y}" r="5"/>'


def wide(gradient):
    return f"{0.6 + 5 * min(np.linalg.norm(gradient), 1):.1f}"
