"""Right answers to the blanks, written in other ways than the source: blank -> bodies.

Most are put together: each way to write one step with each way to write the next."""

from itertools import product


def ways(text, **steps):
    """Return the text with each choice of its steps."""
    choices = [[(name, way) for way in some] for name, some in steps.items()]
    filled = []
    for chosen in product(*choices):
        body = text
        for name, way in chosen:
            body = body.replace(f"<{name}>", way)
        filled.append(body)
    return filled


UNDO = """
def back(gx, x):
    while gx.ndim > x.ndim:
        gx = gx.sum(axis=0)
    for i in range(x.ndim):
        if x.shape[i] == 1:
            gx = gx.sum(axis=i, keepdims=True)
    return gx
"""
TURNED = [
    "B.swapaxes(-1, -2)",
    "np.moveaxis(B, -1, -2)",
    "np.einsum('...ij->...ji', B)",
]
SUMS = [  # of S along `axis`, which stays
    "np.sum(S, axis=axis, keepdims=True)",
    "(S).sum(axis, keepdims=True)",
    "np.expand_dims(np.sum(S, axis=axis), axis)",
    "np.add.reduce(S, axis=axis, keepdims=True)",
    "np.moveaxis(np.einsum('...i->...', np.moveaxis(S, axis, -1))[..., None], -1, axis)",
]
MEANS = [  # of S along the last axis, which stays
    "np.mean(S, axis=-1, keepdims=True)",
    "(S).sum(-1, keepdims=True) / x.shape[-1]",
    "np.einsum('...i->...', S)[..., None] / x.shape[-1]",
    (
        "np.array([row.mean() for row in (S).reshape(-1, x.shape[-1])])"
        ".reshape(x.shape[:-1] + (1,))"
    ),
]
RIGHT = {
    "product": [
        *ways(
            "<A>\nreturn <GA>, <GB>",
            A=["h = g", "h = np.array(g)", "h = g + 0"],
            GA=["h * b", "np.multiply(b, h)"],
            GB=["h * a", "a * h", "np.multiply(h, a)"],
        ),
        UNDO + "return back(g * b, a), back(g * a, b)",
        UNDO + "return g * b, back(g * a, b)",
        "ga = g.copy()\nga *= b\ngb = np.empty_like(g)\ngb[...] = g\ngb *= a\nreturn ga, gb",
        """
        A, B, _ = np.broadcast_arrays(a, b, g)
        ga, gb = np.zeros_like(g), np.zeros_like(g)
        for i in np.ndindex(g.shape):
            ga[i] = g[i] * B[i]
            gb[i] = g[i] * A[i]
        return ga, gb
        """,
    ],
    "matmul": [
        *ways(
            "return g @ <T>, <U> @ g",
            T=[t.replace("B", "b") for t in TURNED],
            U=[t.replace("B", "a") for t in TURNED],
        ),
        *ways(
            "b, a = <T>, <U>\nreturn np.matmul(g, b), np.matmul(a, g)",
            T=["b.swapaxes(-2, -1)", "np.swapaxes(b, -1, -2)"],
            U=["a.swapaxes(-2, -1)", "np.swapaxes(a, -2, -1)"],
        ),
        "return np.einsum('...np,...kp->...nk', g, b), np.einsum('...nk,...np->...kp', a, g)",
        """
        def t(z):
            return np.swapaxes(z, -1, -2)
        return t(b @ t(g)), t(t(g) @ a)
        """,
        """
        ga = (g[..., :, None, :] * b[..., None, :, :]).sum(-1)
        gb = (a[..., :, :, None] * g[..., :, None, :]).sum(-3)
        return ga, gb
        """,
        """
        ga = 0
        for j in range(g.shape[-1]):
            ga = ga + g[..., :, j, None] * b[..., None, :, j]
        gb = 0
        for i in range(g.shape[-2]):
            gb = gb + a[..., i, :, None] * g[..., i, None, :]
        return ga, gb
        """,
        """
        ga, gb = g @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ g
        while gb.ndim > b.ndim:
            gb = gb.sum(axis=0)
        while ga.ndim > a.ndim:
            ga = np.sum(ga, axis=0)
        return ga, gb
        """,
    ],
    "softmax": [
        *ways(
            "s = <S>\nreturn <R>",
            S=[s.replace("S", "g * y") for s in SUMS],
            R=["y * (g - s)", "y * g - y * s", "(g - s) * y,", "np.multiply(y, g - s)"],
        ),
        "out = g - np.sum(y * g, axis, keepdims=True)\nout *= y\nreturn out",
        "return y * (g - sum(g * y, axis=axis, keepdims=True))",
        "h = g + 5\nreturn y * (h - sum(h * y, axis=axis, keepdims=True))",
        "z = np.zeros_like(g)\nz += g * y\nz -= y * z.sum(axis, keepdims=True)\nreturn z",
        """
        Y, G = np.moveaxis(y, axis, -1), np.moveaxis(g, axis, -1)
        J = Y[..., :, None] * (np.eye(Y.shape[-1], dtype=y.dtype) - Y[..., None, :])
        return np.moveaxis(np.einsum('...i,...ij->...j', G, J), -1, axis)
        """,
        """
        Y, G = np.moveaxis(y, axis, -1), np.moveaxis(g, axis, -1)
        out = np.zeros_like(G)
        for row in np.ndindex(Y.shape[:-1]):
            J = np.diag(Y[row]) - np.outer(Y[row], Y[row])
            out[row] = J @ G[row]
        return np.moveaxis(out, -1, axis)
        """,
    ],
    "log_softmax": [
        *ways(
            "s = <S>\np = <P>\nreturn <R>",
            S=[s.replace("S", "g") for s in SUMS[:4]],
            P=["np.exp(y)", "exp(y)"],
            R=["g - p * s", "-(s * p - g)"],
        ),
        *ways(
            "p = <P>\nreturn g - p * g.sum(axis=axis, keepdims=True)",
            P=[
                "np.e ** y",
                "np.exp2(y / np.log(2).astype(y.dtype))",
                "np.exp(x - x.max(axis, keepdims=True))\np = p / p.sum(axis, keepdims=True)",
            ],
        ),
        "p = np.exp(y)\np *= g.sum(axis, keepdims=True)\nnp.subtract(g, p, out=p)\nreturn p",
        """
        Y, G = np.moveaxis(y, axis, -1), np.moveaxis(g, axis, -1)
        J = np.eye(Y.shape[-1], dtype=y.dtype) - np.exp(Y)[..., None, :]
        return np.moveaxis(np.einsum('...i,...ij->...j', G, J), -1, axis)
        """,
    ],
    "rms_norm": [
        *ways(
            "r = <Q>\nreturn <W>",
            Q=[
                "inverse_rms(x, eps)",
                "(np.mean(x * x, -1, keepdims=True) + eps) ** -0.5",
                "1 / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + eps)",
            ],
            W=[
                w.replace("M", f"({m.replace('S', 'g * y')})")
                for m in MEANS
                for w in ["r * (g - y * M)", "r * g - r * y * M"]
            ],
        ),
        "r = inverse_rms(x, eps)\nreturn r * g - r**3 * x * mean(g * x, axis=-1, keepdims=True)",
        (
            "out = y * mean(g * y, axis=-1, keepdims=True)\nout -= g\nout *= -inverse_rms(x, eps)\n"
            "return out"
        ),
        """
        n = x.shape[-1]
        J = np.eye(n, dtype=x.dtype) - y[..., :, None] * y[..., None, :] / n
        return inverse_rms(x, eps) * np.einsum('...i,...ij->...j', g, J)
        """,
    ],
    "getitem": [
        *ways(
            "z = <Z>\n<A>\nreturn z",
            Z=[
                "np.zeros_like(x)",
                "np.zeros(x.shape, x.dtype)",
                "0 * x",
                "x - x",
                "np.zeros(x.shape, g.dtype)",
            ],
            A=["np.add.at(z, index, g)", "np.subtract.at(z, index, -g)"],
        ),
        *ways(
            "places = np.arange(x.size).reshape(x.shape)[index]\n<A>",
            A=[
                (
                    "z = np.bincount(places.ravel(), g.ravel(), x.size)\n"
                    "return z.reshape(x.shape).astype(x.dtype)"
                ),
                (
                    "z = np.zeros(x.size, x.dtype)\n"
                    "for i, gi in zip(places.flat, g.flat):\n    z[i] += gi\n"
                    "return z.reshape(x.shape)"
                ),
                (
                    "hot = (places.reshape(-1, 1) == np.arange(x.size)).astype(g.dtype)\n"
                    "return (g.reshape(-1) @ hot).reshape(x.shape)"
                ),
                "z = np.zeros_like(x)\nnp.add.at(z.reshape(-1), places, g)\nreturn z",
                (
                    "z = np.zeros_like(x)\n"
                    "for i in np.ndindex(g.shape):\n    z.flat[places[i]] += g[i]\nreturn z"
                ),
                (
                    "return np.array([g[places == i].sum() for i in range(x.size)], x.dtype)"
                    ".reshape(x.shape)"
                ),
            ],
        ),
    ],
    "maximum": [
        *ways(
            "s = <S>\nreturn <GA>, <GB>",
            S=[
                "(a > b) + 0.5 * (a == b)",
                "np.where(a == b, 0.5, a > b)",
                "np.heaviside(a - b, 0.5)",
                "(1 + np.sign(a - b)) / 2",
                "((a >= b) * 1.0 + (a > b)) / 2",
            ],
            GA=["(s * g).astype(g.dtype)", "np.where(True, g * s, 0).astype(g.dtype)"],
            GB=["(g - g * s).astype(g.dtype)", "((1 - s) * g).astype(g.dtype)"],
        ),
        (
            "t = a == b\nreturn where(t, g / 2, where(a > b, g, 0.0)), where(t, g / 2, "
            "where(a < b, g, 0.0))"
        ),
        (
            "n = 1.0 * (y == a) + (y == b)\nn = n.astype(g.dtype)\n"
            "return (y == a) * g / n, (y == b) * g / n"
        ),
        """
        ga, gb = np.zeros_like(g), np.zeros_like(g)
        A, B, _ = np.broadcast_arrays(a, b, g)
        ga[A > B] = g[A > B]
        gb[A < B] = g[A < B]
        ga[A == B] = gb[A == B] = g[A == B] / 2
        return ga, gb
        """,
    ],
    "fit": [
        *ways(
            "extra = g.ndim - x.ndim\n<F>\n<S>\nreturn <R>",
            F=[
                "while g.ndim > x.ndim:\n    g = g.sum(axis=0)",
                "g = g.sum(axis=tuple(range(extra)))",
                "for _ in range(extra):\n    g = np.add.reduce(g, 0)",
            ],
            S=[
                (
                    "for i, n in enumerate(x.shape):\n    if n == 1:\n"
                    "        g = np.sum(g, axis=i, keepdims=True)"
                ),
                "g = g.sum(tuple(i for i in range(x.ndim) if x.shape[i] == 1), keepdims=True)",
            ],
            R=[
                "g.astype(x.dtype)",
                "np.asarray(g, x.dtype)",
                "g.reshape(x.shape).astype(x.dtype)",
            ],
        ),
        """
        places = np.broadcast_to(np.arange(x.size).reshape(x.shape), g.shape)
        out = np.zeros(x.size)
        np.add.at(out, places.ravel(), g.ravel())
        return out.reshape(x.shape).astype(x.dtype)
        """,
    ],
    "soft_lookup": [
        *ways(
            "s = <S>\nw = <W>\nreturn <Y>",
            S=[
                "score(query[None, :], keys)[0] / temperature",
                "np.squeeze(score(query.reshape(1, -1), keys), 0) / temperature",
            ],
            W=[
                "softmax(s)",
                "np.exp(s - s.max(initial=-np.inf))\nw = w / w.sum()",
                "np.exp(s - np.logaddexp.reduce(s))",
            ],
            Y=[
                "w @ values",
                "np.tensordot(w, values, 1)",
                "np.einsum('m,m...->...', w, values)",
            ],
        ),
        "s = score(query[None], keys) / temperature\nreturn (softmax(s) @ values)[0]",
        """
        s = score(query[None], keys)[0] / temperature
        total, out = 0.0, np.zeros(values.shape[1:], values.dtype)
        for si, v in zip(s, values):
            w = np.exp(si - s.max())
            total += w
            out = out + w * v
        return out / total if len(s) else out
        """,
    ],
    "causal_mask": [
        *ways(
            "past = m - n\nreturn <R>",
            R=[
                "np.tri(n, m, past - strict, dtype=bool)",
                "np.tril(np.ones((n, m), bool), past - strict)",
                "~np.triu(np.ones((n, m), bool), past - strict + 1)",
                "np.tri(n, m, past - strict).astype(bool)",
                "np.tri(n, m, past - strict) > 0",
                "np.tril(np.ones((n, m)), past - strict) == 1",
                "np.fromfunction(lambda i, j: j <= i + past - strict, (n, m))",
                (
                    "np.array([j <= i + past - strict for i in range(n) for j in range(m)], "
                    "bool).reshape(n, m)"
                ),
            ],
        ),
        *ways(
            "i = <I>\nj = <J>\nreturn <R>",
            I=["np.arange(n)[:, None]", "np.arange(n).reshape(-1, 1)"],
            J=["np.arange(m)", "np.arange(m)[None]"],
            R=[
                "j < i + m - n if strict else j <= i + m - n",
                "j - m <= i - n - strict",
                "np.greater_equal(i + m - n - bool(strict), j)",
            ],
        ),
        """
        mask = np.zeros((n, m), bool)
        for i in range(n):
            mask[i, : max(i + m - n + 1 - strict, 0)] = True
        return mask
        """,
        "i, j = np.mgrid[:n, :m]\nreturn (m - 1 - j) >= (n - 1 - i) + strict",
    ],
    "split_heads": [
        *ways(
            "w = x.shape[-1] // heads\nz = x.reshape(<SHAPE>)\nreturn <R>",
            SHAPE=[
                "*x.shape[:-1], heads, w",
                "(*x.shape[:-1], heads, w)",
                "x.shape[:-1] + (heads, w)",
                "x.shape[:-1] + (heads, x.shape[-1] // heads)",
            ],
            R=[
                "z.swapaxes(-2, -3)",
                "np.moveaxis(z, -2, -3)",
                "np.swapaxes(z, -3, -2)",
                "np.einsum('...thw->...htw', z)",
                "np.rollaxis(z, -2, -3)",
            ],
        ),
        "return np.stack(np.split(x, heads, axis=-1), axis=-3)",
        (
            "w = x.shape[-1] // heads\n"
            "return np.stack([x[..., i * w : (i + 1) * w] for i in range(heads)], axis=-3)"
        ),
        """
        *front, T, d = x.shape
        out = np.empty((*front, heads, T, d // heads), x.dtype)
        for i in range(heads):
            out[..., i, :, :] = x[..., i * d // heads : (i + 1) * d // heads]
        return out
        """,
    ],
}
LOW = "np.where(ok, S, -np.inf)"
RIGHT["attention"] = [
    *ways(
        "S = score(Q, K)\nn, m = S.shape[-2:]\n<OK>\nA = <WEIGHTS>\nY = <MIX>\n"
        "return (Y, A) if return_weights else Y",
        OK=[
            (
                "ok = np.ones((n, m), bool) if mask is None else mask\n"
                "if causal:\n    ok = ok & causal_mask(n, m)"
            ),
            (
                "ok = True if mask is None else mask\n"
                "ok = ok & (np.tri(n, m, m - n, dtype=bool) | (not causal))"
            ),
        ],
        WEIGHTS=[
            "softmax(S, mask=ok)",
            f"softmax({LOW})",
            (
                f"{LOW}\nA = A - np.maximum(A.max(-1, keepdims=True, initial=-9e9), -1e9)\n"
                "A = np.exp(A)\nA = A / np.maximum(A.sum(-1, keepdims=True), 1e-30)"
            ),
        ],
        MIX=["A @ V", "np.matmul(A, V)", "np.einsum('...nm,...md->...nd', A, V)"],
    ),
]
