"""A window with sliders, for the demo that has one, or why none can be opened."""

import os
import sys
from importlib.util import find_spec

import matplotlib.pyplot as plt

TOOLKITS = "_tkinter", "PyQt6", "PySide6", "PyQt5", "gi", "wx"  # that matplotlib knows


def open_window(module):
    """Show the figure of `module.window()`; leave with exit code 2 where none can be."""
    try:
        figure, _sliders = module.window()
        opens = figure.canvas.required_interactive_framework is not None
    except ImportError:  # of a toolkit, or by one that finds no display
        opens = False
    if not opens:
        print(f"demos: --interactive: {reason()}", file=sys.stderr)
        sys.exit(2)
    plt.show()


def reason():
    """Return why no window opens, and what to do about it."""
    displays = [os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")]
    if not any(displays) and sys.platform not in ("darwin", "win32"):
        return "no display to open a window on"
    if not any(map(find_spec, TOOLKITS)):
        return "tkinter is missing: apt install python3-tk, or pip install PyQt6"
    if chosen := os.environ.get("MPLBACKEND"):
        return f"MPLBACKEND={chosen} opens no window here; unset it"
    return f"no window opens on the display {next(filter(None, displays), '')}"
