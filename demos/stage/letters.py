"""Letters of any text, in a picture and on a terminal."""

from matplotlib import font_manager

from .words import WIDTH

FONT = "DejaVu Sans Mono"  # which matplotlib brings along


def label(letter):
    """Return a letter as the pictures show it, or its number where they have no glyph."""
    shown = {"\n": "↵", " ": "␣"}.get(letter, letter)
    font = font_manager.get_font(font_manager.findfont(FONT))
    return shown if font.get_char_index(ord(shown)) else f"{ord(shown):x}"


def printable(text):
    """Return a text without what a terminal would obey, in lines of at most WIDTH."""
    text = "".join(x if x.isprintable() or x == "\n" else "·" for x in text)
    return "\n".join(
        line[start : start + WIDTH]
        for line in text.split("\n")
        for start in range(0, max(len(line), 1), WIDTH)
    )
