"""A moving picture: the frames that a function draws, in a loop, for a light ground and,
its brightness turned round and its hues kept, for a dark one.
"""

import io

import numpy as np
from PIL import Image

from .progress import progress

RATE = 15  # frames a second
COLOURS = 160


def film(figure, draw, values, path):
    """Write path-light.gif and path-dark.gif; `draw(value)` draws a frame into figure."""
    shots = []
    draw(values[0])
    figure.canvas.draw()
    figure.set_layout_engine("none")  # or the panels would move with their titles
    bar = progress(range(len(values)), unit="frames")
    for value in values:
        draw(value)
        shot = io.BytesIO()
        figure.savefig(shot, format="png", dpi=160)
        shots.append(np.asarray(Image.open(shot).convert("RGB")))
        bar.update()
    bar.close()
    for ground, change in (("light", np.asarray), ("dark", darkened)):
        write(f"{path}-{ground}.gif", [Image.fromarray(change(shot)) for shot in shots])


def write(path, frames):
    """Write frames as a GIF that runs in a loop, all of one palette, so that what stands
    still is stored once."""
    width, height = frames[0].size
    some = frames[:: len(frames) // 6]
    sheet = Image.new("RGB", (width, height * len(some)))
    for i, frame in enumerate(some):
        sheet.paste(frame, (0, i * height))
    rare_too = Image.Quantize.MAXCOVERAGE  # median cut would spend all on the ground
    palette = sheet.quantize(COLOURS, rare_too)
    first, *others = [
        f.quantize(palette=palette, dither=Image.Dither.NONE) for f in frames
    ]
    first.save(path, save_all=True, append_images=others, duration=1000 // RATE, loop=0)


def darkened(pixels):
    """Return RGB pixels as report.css turns them on a dark ground: invert(0.92), then
    hue-rotate(180deg), which mirrors a colour in its grey."""
    inverted = 0.92 * 255 - 0.84 * pixels.astype(float)  # (height, width, 3)
    grey = inverted @ [0.213, 0.715, 0.072]
    turned = 2 * grey[..., None] - inverted
    return np.rint(turned).clip(0, 255).astype(np.uint8)
