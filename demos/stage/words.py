"""Numbers in sentences: with a minus sign, not a hyphen, and without brackets of Python."""

WIDTH = 80  # of what is printed, in characters

RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def small(x):
    """Return a number far from 1, to one digit: 3 · 10⁻¹⁶, or 0 if it is exactly that.

    >>> small(2.8e-16), small(0.0)
    ('3 · 10⁻¹⁶', '0')
    """
    if x == 0:
        return "0"
    digit, power = f"{x:.0e}".split("e")
    return f"{digit} · 10{str(int(power)).translate(RAISED)}".replace("-", "−")


def listed(numbers, digits=3):
    """Return numbers as a tuple is written, rounded: (0.199, 0.18, −2).

    >>> listed([0.19861, 0.18, -2.0])
    '(0.199, 0.18, −2)'
    """
    return f"({', '.join(number(round(float(x), digits) + 0.0) for x in numbers)})"


def number(x, digits=15):
    """Return a number in as few digits as tell it, or at most so many.

    >>> number(-0.5), number(40.0), number(2 / 3, 2)
    ('−0.5', '40', '0.67')
    """
    return f"{x:.{digits}g}".replace("-", "−")
