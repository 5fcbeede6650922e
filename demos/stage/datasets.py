"""The data in demos/data, as NumPy arrays; its README says where each set comes from.

Arrays here are on the host: they enter the backend through `backend.xp.asarray`.
"""

from pathlib import Path

import numpy as np

from .files import read

FOLDER = Path(__file__).parent.parent / "data"


def capitals():
    """Return the arrays of capitals.npz by name, vectors as float64.

    40 keys, capitals, and 67 queries, each with its text and a unit vector of width 384
    from a sentence model; the values are countries, as text and as latitude, longitude
    (degrees) and population (millions). `expected` is the row of the right key, or -1.
    """
    with np.load(FOLDER / "capitals.npz") as file:
        arrays = {name: file[name] for name in file.files}
    vectors = ("keys", "keys_city", "queries", "value_vectors", "value_numbers")
    return arrays | {name: arrays[name].astype(float) for name in vectors}


def columns(name):
    """Return the two columns of a .csv file of numbers, after its line of titles."""
    return np.loadtxt(FOLDER / name, delimiter=",", skiprows=1, unpack=True)


def shakespeare():
    """Return the text of nine plays, 1,115,394 characters."""
    return read(FOLDER / "tiny_shakespeare.txt")


def land():
    """Return the outlines of the land, a list of rings (n, 2), each corner a longitude
    and a latitude in degrees."""
    with np.load(FOLDER / "outlines.npz") as file:
        return np.split(file["corners"] / 10, file["starts"][1:])


def induction():
    """Return the arrays of induction.npz by name: the parameters of a model that has
    learned to copy, and its history, for each step the loss and two mean weights."""
    with np.load(FOLDER / "induction.npz") as file:
        return {name: file[name] for name in file.files}
