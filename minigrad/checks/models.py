"""What parameters and the states of models and optimisers must be."""


def leaves(params):
    """Return parameters in a list, each once: tied weights make one step."""
    if hasattr(params, "detach") or hasattr(params, "parameters"):
        raise TypeError(
            "expected a list of Tensors, such as model.parameters(), got one "
            f"{type(params).__name__}"
        )
    params = list(params)
    if not params:
        raise ValueError("there are no parameters")
    for p in params:
        if not hasattr(p, "inputs"):
            raise TypeError(f"expected Tensors, got {type(p).__name__}")
        if p.op is not None:
            raise ValueError(f"{p.op.__name__} made this Tensor; it is no leaf")
    return list(dict.fromkeys(params))


def fitting_gradients(params):
    """Refuse a gradient that is no array of real numbers in its parameter's shape."""
    for p in params:
        if p.grad is not None:
            kind = getattr(p.grad, "dtype", type(p.grad).__name__)
            if getattr(kind, "kind", "") not in [*"iuf"]:
                raise TypeError(f"a gradient of {kind}; nothing has moved")
            if p.grad.shape != p.shape:
                raise ValueError(
                    f"a gradient of shape {p.grad.shape} for a parameter of shape "
                    f"{p.shape}; nothing has moved"
                )


def same_state(own, state):
    """Refuse a dict of arrays unless it agrees with ours in names, shapes and dtypes."""
    missing, unknown = own.keys() - state.keys(), state.keys() - own.keys()
    if missing or unknown:
        raise ValueError(
            f"names differ: missing {sorted(missing)}, unknown {sorted(unknown)}"
        )
    for name, x in own.items():
        given = state[name]
        if given.shape != x.shape:
            raise ValueError(
                f"{name!r} has shape {given.shape}, where {x.shape} is needed"
            )
        if given.dtype != x.dtype:
            raise TypeError(
                f"{name!r} is {given.dtype}, where {x.dtype} is needed; convert one of "
                "them with astype"
            )
