"""Answers on a map: a value can be anything that has a mean, if the mean makes sense.

Question. A soft dictionary of capitals never says no. What is its answer where several
keys fit, and what where none does?

Guess. One of those that fit; and where none does, something at random.

Formula. The values are places, so the answer is one too, a mean under the weights:

    (latitude, longitude) = Σᵢ αᵢ (latitudeᵢ, longitudeᵢ)

If nothing fits, all scores are about equal, every weight is about 1/m, and the answer
is about the centroid of all values. e to the entropy of the weights, e^(-Σ αᵢ log αᵢ),
says between how many keys an answer is shared: 1 for a hard hit, m for the centroid.

What to look at. Each answer is tied to the countries that it mixes, by lines as thick
as their weights. Where these are neighbours, the answer is a place between them.
Longitude is an angle, though: its mean makes sense only well within half the globe.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection

from attention import attention

from ..stage import datasets
from ..stage.drawing import KEY, QUERY, VALUE, WEIGHT, halo
from .capitals import lookup
from .soft_argmax import entropy

NAMED = 0.025  # countries of more weight have their names on the map
SHOWN = {  # query -> where its name stands, in points from its answer, and its look
    "london or paris": ((-62, -7), "o", KEY),
    "a city in scandinavia": ((-22, 27), "s", QUERY),
    "a south american capital": ((-66, 14), "D", VALUE),
    "banana bread recipe": ((62, 36), "P", WEIGHT),
}
BESIDE = {  # country -> where its name stands, in points, if not above it
    "France": (4, -9),
    "United Kingdom": (-40, 6),
    "Sweden": (24, 2),
    "Norway": (-24, 4),
    "Finland": (24, 4),
    "Peru": (-14, -7),
    "Brazil": (20, 6),
    "Cuba": (18, 6),
    "Mexico": (-22, 6),
    "Spain": (2, -8),
    "Portugal": (-26, -2),
    "Argentina": (-6, -9),
    "Ukraine": (24, 0),
    "Egypt": (16, 5),
    "New Zealand": (-16, -9),
}


def keys_sharing(A):
    """Return between how many keys each answer is shared, for weights (n, m)."""
    return np.exp(entropy(A))  # (n,)


def draw(data, places, A):
    """Draw some answers (n, 2), tied to the countries they mix by weights (n, m)."""
    figure, ax = plt.subplots(figsize=(8.4, 4.7))
    ax.add_collection(PolyCollection(datasets.land(), facecolor="0.9", zorder=0))
    latitude, longitude, _ = data["value_numbers"].T
    ax.scatter(longitude, latitude, s=9, color="0.35", zorder=2)
    named = set()
    for query, (offset, marker, colour) in SHOWN.items():
        row = data["query_text"].tolist().index(query)
        y, x = places[row]
        for j in np.flatnonzero(A[row] > 0.01):
            ends = [x, longitude[j]], [y, latitude[j]]
            ax.plot(*ends, color=colour, linewidth=0.6 + 5 * A[row, j], alpha=0.6)
        named |= set(np.flatnonzero(A[row] > NAMED))
        ax.plot(x, y, marker, color=colour, markeredgecolor="white", ms=8, zorder=4)
        how = {"textcoords": "offset points", "ha": "center", "color": colour}
        how |= {"weight": "bold", "path_effects": halo(), "zorder": 5}
        ax.annotate(query, (x, y), offset, **how)
    for j in named:
        country, place = data["value_text"][j], (longitude[j], latitude[j])
        how = {"textcoords": "offset points", "ha": "center", "fontsize": 8}
        how |= {"va": "center", "path_effects": halo(2), "zorder": 5}
        ax.annotate(country, place, BESIDE.get(country, (0, -8)), **how)
    ax.text(-126, -50, "the thicker a line, the larger its weight")
    ax.set(xlim=(-130, 180), ylim=(-54, 78), aspect=1.25)
    ax.set(xlabel="longitude / degrees east", ylabel="latitude / degrees north")
    ax.grid(False)
    ax.set_title("A mix of neighbours is a place between them, a mix of all is nowhere")
    return figure


def demo(page):
    data = datasets.capitals()
    values = data["value_numbers"][:, :2]
    places, A = lookup(data["queries"], data["keys"], values)
    shared = keys_sharing(A)
    kinds = data["query_kind"]

    page.picture(draw(data, places, A), "places")
    queries = data["query_text"].tolist()
    rows = []
    for query in SHOWN:
        i = queries.index(query)
        first, second = A[i].argsort()[:-3:-1]
        names = [f"{data['value_text'][j]} {A[i, j]:.2f}" for j in (first, second)]
        rows.append([query, *map(round, places[i]), shared[i], ", ".join(names)])
    page.table(["query", "°N", "°E", "keys", "countries of most weight"], rows)
    far = [data["key_text"].tolist().index(name) for name in ("tokyo", "washington")]
    north, east = values[far].mean(axis=0)
    page.say(
        f"Half Japan and half United States would be {north:.0f}° north, {east:.0f}°"
        " east, off Greece: the mean of two longitudes on opposite sides of the globe"
        " is a number without a meaning. A value such as a point on a sphere, (x, y, z), has"
        " a mean everywhere, and its length tells how far the mixed places lie apart."
    )

    none, exact = shared[kinds == "none"], shared[kinds == "exact"]
    page.claim(
        "A8",
        "Where nothing matches, the weights spread over all keys, and the answer is"
        " drawn towards the centroid of all values.",
        r"$s(q,k_i)\approx c\;\Rightarrow\;\alpha_i\approx 1/m$",
        f"{none.mean():.1f} keys share if nothing fits, {exact.mean():.1f} if a key is"
        f" equal, of {len(values)}",
        none.min() > exact.max(),
        attention,
    )
    misspelt = shared[kinds == "misspelling"]
    page.say(
        "A caller who wants a miss has to look at this spread, or at the top score."
        " Neither draws a clean line: the misspellings have a right answer, and are"
        f" shared between {misspelt.mean():.0f} keys."
    )
