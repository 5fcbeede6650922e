"""Wrong answers to the blanks, written as learners write them.

Of each blank: the id of the mistake, and below it, further in, the body.
"""

import re
import textwrap

TEXTS = {
    "product": """
y_for_g
    return y * b, y * a
zero
    return g * b, np.zeros_like(b)
swapped
    return g * a, g * b
own_factor
    return g * a, g * a
own_factor
    return g * b, g * b
no_g
    return b, a
no_g
    return b, g * a
sum_rule
    return g, g
added
    return g + b, g + a
y_for_operand
    return g * y, g * y
quotient
    return g / b, g / a
sign
    return -g * b, -g * a
sign
    return g * b, -(g * a)
factor
    return 2 * g * b, 2 * g * a
factor
    return g * b, g * a / 2
count
    return g * b
count
    return g * b, g * a, None
type
    return [g * b, g * a]
g_changed
    g *= b
    return g, g / b * a
input_changed
    ga = g * b
    a *= g
    return ga, a
mean_over_copies
    def back(gx, x):
        while gx.ndim > x.ndim:
            gx = gx.mean(0)
        for i in range(x.ndim):
            if x.shape[i] == 1:
                gx = gx.mean(i, keepdims=True)
        return gx
    return back(g * b, a), back(g * a, b)
one_copy
    def back(gx, x):
        while gx.ndim > x.ndim:
            gx = gx[0]
        return gx[tuple(slice(0, n) for n in x.shape)]
    return back(g * b, a), back(g * a, b)
""",
    "matmul": """
g_transposed
    return g.swapaxes(-1, -2) @ b, a @ g.swapaxes(-1, -2)
y_for_g
    return g @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ y
not_transposed
    return g @ b, a @ g
not_transposed
    return g @ b, a.swapaxes(-1, -2) @ g
order
    return b.swapaxes(-2, -1) @ g, g @ a.swapaxes(-2, -1)
order
    return np.matmul(np.moveaxis(b, -1, -2), g), g @ np.moveaxis(a, -1, -2)
own_factor
    return g @ a.swapaxes(-1, -2), b.swapaxes(-1, -2) @ g
swapped
    gb = a.swapaxes(-1, -2) @ g
    return gb, gb
swapped
    return a.swapaxes(-1, -2) @ g, g @ b.swapaxes(-1, -2)
all_axes
    return g @ b.T, a.T @ g
all_axes
    return np.matmul(g, b.transpose()), np.matmul(np.transpose(a), g)
elementwise
    return g * b, g * a
elementwise_transposed
    return g * b.swapaxes(-1, -2), a.swapaxes(-1, -2) * g
no_g
    return b.swapaxes(-1, -2), a.swapaxes(-1, -2)
g_transposed
    h = g.swapaxes(-1, -2)
    return h @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ h
transposed
    return b @ g.swapaxes(-1, -2), g.swapaxes(-1, -2) @ a
transposed
    return np.einsum('...np,...kp->...kn', g, b), a.swapaxes(-1, -2) @ g
sign
    return -(g @ b.swapaxes(-1, -2)), -(a.swapaxes(-1, -2) @ g)
mean_over_batch
    ga = g @ b.swapaxes(-1, -2)
    gb = a.swapaxes(-1, -2) @ g
    if a.ndim == 2 and ga.ndim == 3:
        ga = ga.mean(axis=0)
    if b.ndim == 2 and gb.ndim == 3:
        gb = np.mean(gb, axis=0)
    return ga, gb
one_of_batch
    ga = g @ b.swapaxes(-1, -2)
    gb = a.swapaxes(-1, -2) @ g
    if a.ndim == 2 and ga.ndim == 3:
        ga = ga[0]
    if b.ndim == 2 and gb.ndim == 3:
        gb = gb[0]
    return ga, gb
""",
    "softmax": """
exp_y
    p = np.exp(y)
    return p * (g - np.sum(g * p, axis=axis, keepdims=True))
zero
    return np.zeros_like(x)
diagonal_only
    return g * y * (1 - y)
diagonal_only
    return g * (y - y**2)
not_centred
    return g * y
no_y
    return g - np.sum(g * y, axis=axis, keepdims=True)
y_once
    return g * y - np.sum(g * y, axis, keepdims=True)
y_only_second
    return g - y * sum(y * g, axis=axis, keepdims=True)
plain_sum
    return y * (g - np.sum(g, axis=axis, keepdims=True))
plain_mean
    return y * (g - np.mean(g, axis=axis, keepdims=True))
mean_for_sum
    return y * (g - (g * y).mean(axis=axis, keepdims=True))
all_rows
    return y * (g - np.sum(g * y))
fixed_axis
    return y * (g - sum(g * y, axis=-1, keepdims=True))
fixed_axis
    return y * g - np.einsum('...i,...i->...', g, y)[..., None] * y
first_axis
    return y * (g - np.sum(g * y, axis=0, keepdims=True))
keepdims
    return y * (g - np.sum(g * y, axis=axis))
log_softmax
    return g - y * np.sum(g, axis=axis, keepdims=True)
no_g
    return y * (1 - y)
x_for_y
    return x * (g - np.sum(g * x, axis=axis, keepdims=True))
x_in_sum
    return y * (g - np.sum(g * x, axis=axis, keepdims=True))
y_squared
    return g * y - y * y * sum(g, axis=axis, keepdims=True)
zero
    return y * (g - g * np.sum(y, axis=axis, keepdims=True))
coefficient
    return y * (g + np.sum(g * y, axis=axis, keepdims=True))
coefficient
    return y * (g - 2 * np.sum(g * y, axis, keepdims=True))
coefficient
    return -y * np.sum(g * y, axis=axis, keepdims=True)
sign
    return y * (np.sum(g * y, axis=axis, keepdims=True) - g)
factor
    return 0.5 * y * (g - np.sum(g * y, axis=axis, keepdims=True))
g_changed
    g -= np.sum(g * y, axis=axis, keepdims=True)
    return y * g
float64
    y = y.astype(float)
    return y * (g - np.sum(g * y, axis=axis, keepdims=True))
no_mask
    p = softmax(x, axis=axis)
    return p * (g - np.sum(g * p, axis=axis, keepdims=True))
nan
    e = np.exp(x) * (1 if mask is None else mask)
    p = e / e.sum(axis=axis, keepdims=True)
    return p * (g - np.sum(g * p, axis=axis, keepdims=True))
none
    y * (g - np.sum(g * y, axis=axis, keepdims=True))
shape
    return np.sum(y * (g - np.sum(g * y, axis, keepdims=True)), axis)
raises
    return y * (g - totals)
unfinished
    raise NotImplementedError
type
    return (y * g).tolist()
dtype
    return (g * y).astype(complex)
""",
    "log_softmax": """
no_sum
    return g - np.exp(y)
cross_entropy
    return np.exp(y) - g
all_weights
    e = np.exp(x - x.max())
    return g - e / e.sum() * np.sum(g, axis=axis, keepdims=True)
no_exp
    return g - y * np.sum(g, axis=axis, keepdims=True)
not_centred
    return g
diagonal_only
    return g * (1 - exp(y))
diagonal_only
    return g - np.exp(y) * g
softmax
    p = np.exp(y)
    return p * (g - np.sum(g * p, axis=axis, keepdims=True))
softmax_of_y
    return y * (g - np.sum(g * y, axis=axis, keepdims=True))
weighted_sum
    p = exp(y)
    return g - p * sum(g * p, axis=axis, keepdims=True)
weighted_by_y
    return g - exp(y) * sum(g * y, axis=axis, keepdims=True)
mean_for_sum
    return g - np.exp(y) * g.mean(axis=axis, keepdims=True)
no_weight
    return g - g.sum(axis=axis, keepdims=True)
centred
    return g - g.mean(axis=axis, keepdims=True)
no_g
    return 1 - np.exp(y)
all_rows
    return g - np.exp(y) * g.sum()
fixed_axis
    return g - np.exp(y) * g.sum(-1, keepdims=True)
first_axis
    return g - np.exp(y) * g.sum(axis=0, keepdims=True)
keepdims
    return g - np.exp(y) * g.sum(axis=axis)
not_normalised
    return g - np.exp(x) * np.sum(g, axis=axis, keepdims=True)
overflow
    p = np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)
    return g - p * np.sum(g, axis=axis, keepdims=True)
factor_not_term
    return np.exp(y) * (g - g.sum(axis=axis, keepdims=True))
coefficient
    return g + np.exp(y) * g.sum(axis=axis, keepdims=True)
sign
    return np.exp(y) * g.sum(axis=axis, keepdims=True) - g
input_changed
    x -= x.max(axis=axis, keepdims=True)
    return g
""",
    "rms_norm": """
diagonal_only
    return inverse_rms(x, eps) * g * (1 - y * y)
centred
    return inverse_rms(x, eps) * (g - g.mean(axis=-1, keepdims=True))
constant_r
    return g * inverse_rms(x, eps)
constant_r
    return g / np.sqrt(np.mean(x**2, -1, keepdims=True) + eps)
diagonal_only
    n = x.shape[-1]
    return inverse_rms(x, eps) * (1 - y**2 / n) * g
no_r
    return g - y * mean(g * y, axis=-1, keepdims=True)
r_lost
    return inverse_rms(x, eps) * g - y * mean(g * y, axis=-1, keepdims=True)
r_lost
    r = inverse_rms(x, eps)
    return r * (g - x * np.mean(g * y, axis=-1, keepdims=True))
sum_for_mean
    r = inverse_rms(x, eps)
    return r * g - r * y * np.sum(g * y, axis=-1, keepdims=True)
x_for_y
    r = inverse_rms(x, eps)
    return r * (g - x * np.mean(g * x, axis=-1, keepdims=True))
layer_norm
    r = inverse_rms(x, eps)
    m = g.mean(-1, keepdims=True)
    return r * (g - m - y * (g * y).mean(-1, keepdims=True))
softmax
    return y * (g - mean(g * y, axis=-1, keepdims=True))
mean_of_g
    return inverse_rms(x, eps) * (g - y * g.mean(axis=-1, keepdims=True))
no_y
    return inverse_rms(x, eps) * (g - (g * y).mean(-1, keepdims=True))
no_eps
    r = 1 / np.sqrt((x**2).mean(-1, keepdims=True))
    return r * (g - y * (g * y).mean(-1, keepdims=True))
fixed_eps
    r = inverse_rms(x, 1e-5)
    return r * (g - y * (g * y).mean(-1, keepdims=True))
eps_outside
    r = 1 / (np.sqrt((x**2).mean(-1, keepdims=True)) + eps)
    return r * (g - y * (g * y).mean(-1, keepdims=True))
no_root
    r = 1 / ((x**2).mean(-1, keepdims=True) + eps)
    return r * (g - y * (g * y).mean(-1, keepdims=True))
all_rows
    return inverse_rms(x, eps) * (g - y * np.mean(g * y))
all_rows
    r = inverse_rms(x, eps)
    return r * g - r**3 * x * np.sum(g * x) / x.size
keepdims
    return inverse_rms(x, eps) * (g - y * (g * y).mean(axis=-1))
no_g
    return inverse_rms(x, eps) * (1 - y * y / len(x.T))
coefficient
    r = inverse_rms(x, eps)
    return r * (g - 2 * y * (g * y).mean(-1, keepdims=True))
coefficient
    r = inverse_rms(x, eps)
    return r * (g + y * (g * y).mean(-1, keepdims=True))
float64
    r = inverse_rms(x.astype(float), eps)
    return r * (g - y * (g * y).mean(-1, keepdims=True))
""",
    "getitem": """
y_for_g
    z = np.zeros_like(x)
    z[index] = x[index]
    return z
shape
    return x[index] * g
last_wins
    z = np.zeros_like(x)
    z[index] = g
    return z
last_wins
    z = np.zeros_like(x)
    z[index] += g
    return z
averaged
    z, n = np.zeros_like(x), np.zeros_like(x)
    np.add.at(z, index, g)
    np.add.at(n, index, 1)
    return np.where(n > 0, z / np.where(n > 0, n, 1), 0)
first_wins
    z = np.zeros_like(x)
    done = set()
    places = np.arange(x.size).reshape(x.shape)[index]
    for place, value in zip(places.flat, g.flat):
        if place not in done:
            z.flat[place] = value
            done.add(place)
    return z
read_again
    return g[index]
g_itself
    return g
no_g
    z = np.zeros_like(x)
    np.add.at(z, index, 1)
    return z
no_g_once
    z = np.zeros_like(x)
    z[index] = 1
    return z
y_for_g
    z = np.zeros_like(x)
    np.add.at(z, index, y)
    return z
y_factor
    z = np.zeros_like(x)
    np.add.at(z, index, g * x[index])
    return z
onto_x
    z = x.copy()
    np.add.at(z, index, g)
    return z
into_x
    z = np.array(x)
    z[index] = g
    return z
from_ones
    z = np.ones_like(x)
    np.add.at(z, index, g)
    return z
float64
    z = np.zeros(x.shape)
    np.add.at(z, index, g)
    return z
input_changed
    x[...] = 0
    np.add.at(x, index, g)
    return x
sign
    z = np.zeros_like(x)
    np.subtract.at(z, index, g)
    return z
none
    z = np.zeros_like(x)
    return np.add.at(z, index, g)
""",
    "maximum": """
minimum
    return np.where(a < b, g, 0), np.where(b < a, g, 0)
minimum
    return g * (a <= b), g * (b <= a)
half_to_smaller
    return np.where(a > b, g, 0.5 * g), np.where(b > a, g, 0.5 * g)
no_g
    return np.where(a > b, 1.0, 0.0), np.where(b > a, 1.0, 0.0)
value
    return np.where(a > b, a, 0), np.where(b > a, b, 0)
both
    return where(a >= b, g, 0.0), where(b >= a, g, 0.0)
both
    return g * (y == a), g * (y == b)
a_wins
    return np.where(a >= b, g, 0), np.where(b > a, g, 0)
a_wins
    m = a >= b
    return g * m, g * ~m
b_wins
    return np.where(a > b, g, 0), np.where(a > b, 0, g)
neither
    return g * (a > b), g * (b > a)
swapped
    a_wins = (a > b) + 0.5 * (a == b)
    return g * (1 - a_wins), g * a_wins
minimum
    return g * ((a < b) + 0.5 * (a == b)), g * ((a < b) + 0.5 * (a == b))
all
    return g, g
half
    return g / 2, 0.5 * g
no_g
    return (a > b) + (a == b) / 2, (b > a) + (a == b) / 2
value
    s = (a > b) + (a == b) / 2
    return s * y, (1 - s) * y
value_factor
    s = (a > b) + (a == b) / 2
    return s * y * g, (1 - s) * y * g
sign_of_difference
    return g * np.sign(a - b), g * np.sign(b - a)
sign_of_g
    return np.maximum(g, 0), np.minimum(g, 0)
raises
    return (g, 0) if a > b else (0, g)
sign
    return -g * ((a > b) + 0.5 * (a == b)), g * ((a < b) + 0.5 * (a == b))
count
    return where(a > b, g, 0.5 * g)
""",
    "fit": """
from_the_left
    while g.ndim > x.ndim:
        g = g.sum(-1)
    for i, n in enumerate(x.shape):
        if n == 1:
            g = g.sum(i, keepdims=True)
    return g.astype(x.dtype)
mean
    while g.ndim > x.ndim:
        g = g.sum(0)
    for i, n in enumerate(x.shape):
        if n == 1:
            g = g.mean(i, keepdims=True)
    return g.astype(x.dtype)
mean
    while g.ndim > x.ndim:
        g = g.mean(0)
    for i, n in enumerate(x.shape):
        if n == 1:
            g = g.sum(i, keepdims=True)
    return g.astype(x.dtype)
mean
    while g.ndim > x.ndim:
        g = g.mean(axis=0)
    for i, n in enumerate(x.shape):
        if n == 1:
            g = g.mean(axis=i, keepdims=True)
    return g.astype(x.dtype)
one_copy
    while g.ndim > x.ndim:
        g = g[0]
    for i, n in enumerate(x.shape):
        if n == 1:
            g = g.take([0], axis=i) if g.shape[i] else g
    return g.astype(x.dtype).reshape(x.shape)
largest
    while g.ndim > x.ndim:
        g = np.max(g, axis=0)
    for i, n in enumerate(x.shape):
        if n == 1:
            g = np.max(g, axis=i, keepdims=True)
    return g.astype(x.dtype)
in_front_only
    while g.ndim > x.ndim:
        g = g.sum(axis=0)
    return g.astype(x.dtype)
stretched_only
    for i in range(1, x.ndim + 1):
        if x.shape[-i] == 1:
            g = g.sum(axis=-i, keepdims=True)
    return g.astype(x.dtype)
unshifted
    axes = list(range(g.ndim - x.ndim))
    axes += [i for i, n in enumerate(x.shape) if n == 1 and i not in axes]
    g = np.sum(g, axis=tuple(axes), keepdims=True)
    return g.reshape(x.shape).astype(x.dtype)
from_the_left
    for i, n in enumerate(x.shape):
        if n == 1:
            g = g.sum(axis=i, keepdims=True)
    while g.ndim > x.ndim:
        g = g.sum(axis=-1)
    return g.reshape(x.shape).astype(x.dtype)
no_keepdims
    extra = g.ndim - x.ndim
    axes = [*range(extra)]
    axes += [extra + i for i, n in enumerate(x.shape) if n == 1]
    return np.sum(g, axis=tuple(axes)).astype(x.dtype)
kept_axes
    extra = g.ndim - x.ndim
    axes = [*range(extra)]
    axes += [extra + i for i, n in enumerate(x.shape) if n == 1]
    return np.sum(g, axis=tuple(axes), keepdims=True).astype(x.dtype)
sum_of_all
    return np.full_like(x, np.sum(g))
nothing
    return g.astype(x.dtype)
nothing
    return np.asarray(g, dtype=x.dtype)
cut
    return g.ravel()[: x.size].reshape(x.shape).astype(x.dtype)
float64
    while g.ndim > x.ndim:
        g = g.sum(axis=0)
    for i, n in enumerate(x.shape):
        if n == 1:
            g = g.sum(axis=i, keepdims=True)
    return g
raises
    return g.reshape(x.shape)
""",
    "soft_lookup": """
score_and_temperature
    s = keys @ query
    e = np.exp(s - s.max(initial=-np.inf))
    return e / e.sum() @ values
no_temperature
    return softmax(score(query[None], keys)[0] - temperature) @ values
not_normalised
    s = score(query[None], keys)[0] / temperature
    return np.exp(s - s.max(initial=-np.inf)) @ values
wrong_axis
    return (softmax(score(query[None], keys) / temperature, axis=0) @ values)[0]
wrong_axis
    return softmax(score(keys, query[None]) / temperature)[:, 0] @ values
no_temperature
    return softmax(score(query[None], keys)[0]) @ values
times_temperature
    return softmax(score(query[None], keys)[0] * temperature) @ values
temperature_late
    return softmax(score(query[None], keys)[0]) / temperature @ values
any_score
    return softmax(keys @ query / temperature) @ values
any_score
    return softmax(dot(query[None], keys)[0] / temperature) @ values
no_softmax
    return score(query[None], keys)[0] / temperature @ values
not_normalised
    return np.exp(score(query[None], keys)[0] / temperature) @ values
no_exp
    s = score(query[None], keys)[0] / temperature
    return s / s.sum() @ values
overflow
    e = np.exp(score(query[None], keys)[0] / temperature)
    w = e / e.sum()
    return w @ values
hard
    s = score(query[None], keys)[0]
    if not len(s):
        return np.zeros(values.shape[1:])
    return values[np.argmax(s)]
inverted
    return softmax(-score(query[None], keys)[0] / temperature) @ values
sigmoid
    s = score(query[None], keys)[0] / temperature
    return (1 / (1 + np.exp(-s))) @ values
keys_for_values
    return softmax(score(query[None], keys)[0] / temperature) @ keys
of_values
    return softmax(score(query[None], values)[0] / temperature) @ values
roles
    return softmax(score(query[None], values)[0] / temperature) @ keys
mean_twice
    w = softmax(score(query[None], keys)[0] / temperature)
    return w @ values / len(keys)
root_scaled
    s = score(query[None], keys)[0] / np.sqrt(len(query))
    return softmax(s / temperature) @ values
uniform
    return values.mean(axis=0) if len(values) else values.sum(axis=0)
softmax_twice
    w = softmax(score(query[None], keys)[0] / temperature)
    return softmax(w) @ values
raises
    return softmax(score(query, keys) / temperature) @ values
shape
    return softmax(score(query[None], keys) / temperature) @ values
sign
    return -softmax(score(query[None], keys)[0] / temperature) @ values
factor
    return 2 * softmax(score(query[None], keys)[0] / temperature) @ values
""",
    "causal_mask": """
wrong_way
    return np.tri(n, m, n - m, dtype=bool)
distance
    return np.tri(n, m, abs(m - n) - strict, dtype=bool)
strict_at_i
    mask = np.tri(n, m, m - n, dtype=bool)
    if strict:
        np.fill_diagonal(mask, False)
    return mask
future
    return np.triu(np.ones((n, m), dtype=bool))
nothing
    return np.zeros((n, m), dtype=bool)
top_left
    m = np.tri(n, m, dtype=bool)
    return m & ~np.eye(*m.shape, dtype=bool) if strict else m
top_left
    return np.tril(np.ones((n, m), bool), -1 if strict else 0)
wrong_way
    return np.tri(n, m, n - m - strict, dtype=bool)
not_strict
    return np.tri(n, m, m - n, dtype=bool)
not_strict
    return np.arange(m) <= np.arange(n)[:, None] + m - n
strict_turned
    return np.tri(n, m, m - n - (not strict), dtype=bool)
strict_adds
    return np.tri(n, m, m - n + strict, dtype=bool)
always_strict
    return np.tri(n, m, m - n - 1, dtype=bool)
one_early
    return np.arange(m) < np.arange(n)[:, None] + m - n - strict
one_late
    i, j = np.indices((n, m))
    return j <= i + m - n + (0 if strict else 1)
inverted
    return ~np.tri(n, m, m - n - strict, dtype=bool)
inverted
    return np.triu(np.ones((n, m), dtype=bool), m - n + 1 - strict)
future
    return np.triu(np.ones((n, m), dtype=bool), m - n - strict)
diagonal
    return np.eye(n, m, m - n - strict, dtype=bool)
turned
    return np.tri(m, n, n - m - strict, dtype=bool)
turned_future
    return np.tri(m, n, n - m - strict, dtype=bool).T
top_left_loose
    return np.tril(np.ones((n, m), dtype=bool))
everything
    return np.full((n, m), True)
numbers
    return np.tri(n, m, m - n - strict)
numbers
    return np.tril(np.ones((n, m), int), m - n - strict)
added
    ok = np.tri(n, m, m - n - strict, dtype=bool)
    return np.where(ok, 0, -np.inf)
square
    return np.tri(n, n, -strict, dtype=bool)
type
    return [[j <= i + m - n - strict for j in range(m)] for i in range(n)]
""",
    "split_heads": """
one_reshape
    *front, T, d = x.shape
    return x.reshape(*front, heads, T, d // heads)
not_exchanged
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)
interleaved
    return np.stack([x[..., i::heads] for i in range(heads)], axis=-3)
width_of_heads
    w = x.shape[-1] // heads
    return x.reshape(*x.shape[:-1], w, heads).swapaxes(-3, -2)
last_axes
    w = x.shape[-1] // heads
    return x.reshape(*x.shape[:-1], heads, w).swapaxes(-1, -2)
transposed
    w = x.shape[-1] // heads
    x = x.reshape(*x.shape[:-1], heads, w).swapaxes(-2, -3)
    return x.swapaxes(-1, -2)
heads_first
    return np.stack(np.split(x, heads, axis=-1))
batch_exchanged
    w = x.shape[-1] // heads
    return np.swapaxes(x.reshape(*x.shape[:-1], heads, w), 1, 2)
one_batch_axis
    w = x.shape[-1] // heads
    return x.reshape(*x.shape[:-1], heads, w).transpose(0, 2, 1, 3)
reversed
    return np.stack(np.split(x, heads, axis=-1)[::-1], axis=-3)
over_positions
    *front, T, d = x.shape
    return x.reshape(*front, heads, T // heads, d)
through_columns
    *front, T, d = x.shape
    return x.swapaxes(-1, -2).reshape(*front, heads, T, d // heads)
all_axes
    *front, T, d = x.shape
    return x.reshape(*front, T, heads, d // heads).transpose()
first_head
    return x[..., : x.shape[-1] // heads]
shape
    return x
type
    return np.split(x, heads, axis=-1)
raises
    B, T, d = x.shape
    return x.reshape(B, T, heads, d // heads).swapaxes(1, 2)
none
    x = x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)
""",
}


def answers(text):
    """Return the (id, body) of a text."""
    found = re.findall(r"^(\w+)\n((?: .*\n)+)", text, re.MULTILINE)
    return [(id, textwrap.dedent(body)) for id, body in found]


WRONG = {name: answers(text) for name, text in TEXTS.items()}


def attention(S="score(Q, K)", A="softmax(S, mask=ok)", Y="A @ V", ok=None, end=None):
    """Return the body of attention, with some of its steps written otherwise."""
    return f"""
S = {S}
n, m = S.shape[-2:]
seen = causal_mask(n, m) if causal else np.ones((n, m), bool)
ok = {ok or "seen if mask is None else seen & mask"}
A = {A}
Y = {Y}
{end or "return (Y, A) if return_weights else Y"}
"""


K_T = "K.swapaxes(-1, -2)"
LOW = "np.where(ok, S, -np.inf)"
WRONG["attention"] = [
    (
        "score_ignored",
        attention(f"Q @ {K_T} / np.sqrt(np.array(K.shape[-1], K.dtype))"),
    ),
    ("score_ignored", attention("scaled_dot(Q, K)")),
    ("no_scale", attention(f"Q @ {K_T}")),
    ("over_d", attention(f"Q @ {K_T} / Q.shape[-1]")),
    ("times_root", attention(f"Q @ {K_T} * Q.shape[-1] ** 0.5")),
    ("root_m", attention(f"Q @ {K_T} / max(K.shape[-2], 1) ** 0.5")),
    ("scaled_twice", attention("score(Q, K) / K.shape[-1] ** 0.5")),
    ("all_axes", attention("Q @ K.T / Q.shape[-1] ** 0.5")),
    ("no_softmax", attention(A="S * ok")),
    ("not_normalised", attention(A="np.exp(S) * ok")),
    ("wrong_axis", attention(A="softmax(S, axis=-2, mask=ok)")),
    ("whole_matrix", attention(A="softmax(S, axis=(-1, -2), mask=ok)")),
    ("mask_inverted", attention(ok="seen if mask is None else seen & ~mask")),
    (
        "hidden_inverted",
        attention(
            ok="seen if mask is None else seen & mask",
            A="softmax(np.where(ok, -np.inf, S)) "
            "if causal or mask is not None else softmax(S)",
        ),
    ),
    ("mask_ignored", attention(ok="seen")),
    ("causal_ignored", attention(A="softmax(S, mask=mask)")),
    ("masks_ignored", attention(A="softmax(S)")),
    ("mask_alone", attention(ok="seen if mask is None else mask")),
    ("causal_alone", attention(ok="seen if causal or mask is None else mask")),
    (
        "either",
        attention(
            ok="mask if not causal and mask is not None else "
            "seen if mask is None else seen | mask"
        ),
    ),
    (
        "top_left",
        attention(
            ok="np.tri(n, m, dtype=bool) | (not causal)",
            A="softmax(S, mask=ok if mask is None else ok & mask)",
        ),
    ),
    (
        "strict",
        attention(
            ok="causal_mask(n, m, strict=True) | (not causal)",
            A="softmax(S, mask=ok if mask is None else ok & mask)",
        ),
    ),
    (
        "future",
        attention(
            ok="np.triu(np.ones((n, m), bool), m - n) | (not causal)",
            A="softmax(S, mask=ok if mask is None else ok & mask)",
        ),
    ),
    ("mask_late", attention(A="softmax(S) * ok")),
    ("mask_late", attention(A="np.where(ok, softmax(S), 0)")),
    ("mask_times", attention(A="softmax(S * ok)")),
    ("large_negative", attention(A="softmax(np.where(ok, S, -1e9))")),
    ("large_negative", attention(A="softmax(S + (1 - ok.astype(S.dtype)) * -1e9)")),
    (
        "empty_row",
        attention(
            A=f"np.exp({LOW} - {LOW}.max(-1, keepdims=True, initial=-np.inf))",
            Y="(A := A / A.sum(-1, keepdims=True)) @ V",
        ),
    ),
    (
        "empty_row",
        attention(
            A=f"np.exp({LOW} - {LOW}.max(-1, keepdims=True))",
            Y="(A := A / A.sum(-1, keepdims=True)) @ V",
        ),
    ),
    (
        "overflow",
        attention(
            A="np.exp(S) * ok",
            Y="(A := A / np.maximum(A.sum(-1, keepdims=True), 1e-30)) @ V",
        ),
    ),
    ("keys_for_values", attention(Y="A @ K")),
    ("masks_ignored", "return softmax(score(Q, K)) @ V"),
    ("unscaled", attention("score(Q, K) * K.shape[-1] ** 0.5")),
    ("always_causal", attention(ok="causal_mask(n, m)")),
    (
        "always_causal",
        attention(ok="causal_mask(n, m) if mask is None else mask & causal_mask(n, m)"),
    ),
    ("turned", attention(Y="A.swapaxes(-1, -2) @ V")),
    ("weights_first", attention(end="return (A, Y) if return_weights else Y")),
    ("type", attention(end="return Y, A")),
    ("count", attention(end="return Y")),
    ("sign", attention(end="return (-Y, -A) if return_weights else -Y")),
    ("float64", attention("score(Q, K) * np.float64(1)", A="softmax(S, mask=ok)")),
    ("raises", attention("Q @ K")),
    ("input_changed", attention("score(Q.__itruediv__(2.0), K)")),
]
