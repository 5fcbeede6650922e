"""The language model once more in PyTorch, with the same weights: does it compute the
same, and how long does a training step take?

Needs torch, which nothing else here does. `python -m demos benchmark` shows the times.

Letters: B texts, T positions, d the width, h heads."""

import numpy as np
import torch
from torch import nn as tnn
from torch.nn import functional as F

from attention import GPT
from minigrad import nn
from minigrad.optim import AdamW, clip_grad_norm

from . import apart
from .timing import seconds
from .training import BATCH, BETAS, CLIP, CONTEXT, DECAY, HIGH, SIZES, loss_of


class TwinBlock(tnn.Module):
    """A block in nanoGPT's form: one product for Q, K and V, and torch's attention."""

    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm_1 = tnn.LayerNorm(d, bias=False)
        self.qkv = tnn.Linear(d, 3 * d, bias=False)
        self.output = tnn.Linear(d, d, bias=False)
        self.norm_2 = tnn.LayerNorm(d, bias=False)
        self.up = tnn.Linear(d, 4 * d, bias=False)
        self.down = tnn.Linear(4 * d, d, bias=False)

    def forward(self, x):
        B, T, d = x.shape
        projected = self.qkv(self.norm_1(x)).split(d, dim=2)  # three (B, T, d)
        Q, K, V = (
            p.view(B, T, self.heads, d // self.heads).transpose(1, 2)
            for p in projected  # (B, h, T, d / h)
        )
        Y = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
        x = x + self.output(Y.transpose(1, 2).reshape(B, T, d))
        return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))


class Twin(tnn.Module):
    """A copy of a GPT with learned positions."""

    def __init__(self, model):
        super().__init__()
        vocab, d = model.tokens.weight.shape
        self.tokens = tnn.Embedding(vocab, d)
        self.positions = tnn.Embedding(model.context, d)
        heads = model.blocks[0].attention.heads
        self.blocks = tnn.ModuleList(TwinBlock(d, heads) for _ in model.blocks)
        self.norm = tnn.LayerNorm(d, bias=False)
        for p, values in pairs(self, model):
            p.data = torch.tensor(values)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))  # (B, T, d)
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tokens.weight.T  # (B, T, vocab)


def pairs(twin, model, read=lambda p: p.numpy()):
    """Yield each parameter of the twin with what `read` gives for the model's own.

    torch's Linear holds its weights (out, in), the transpose of ours."""
    yield twin.tokens.weight, read(model.tokens.weight)
    yield twin.positions.weight, read(model.positions.weight)
    for theirs, ours in zip(twin.blocks, model.blocks, strict=True):
        a = ours.attention
        yield theirs.norm_1.weight, read(ours.norm_1.weight)
        qkv = [read(part.weight) for part in (a.query, a.key, a.value)]
        yield theirs.qkv.weight, np.concatenate(qkv, axis=1).T
        yield theirs.output.weight, read(a.output.weight).T
        yield theirs.norm_2.weight, read(ours.norm_2.weight)
        yield theirs.up.weight, read(ours.mlp.up.weight).T
        yield theirs.down.weight, read(ours.mlp.down.weight).T
    yield twin.norm.weight, read(model.norm.weight)


def steps_of(model, ids):
    """Return {name: a training step}, and the gap between gradients.

    A step reads texts (B, T + 1), updates the weights and returns the loss. The gap is
    the largest difference of any gradient before the first step, relative to the
    largest number in it."""
    twin, params = Twin(model), model.parameters()
    ours = AdamW(params, lr=HIGH, betas=BETAS, weight_decay=DECAY)
    matrices = [p for p in twin.parameters() if p.ndim > 1]
    others = [p for p in twin.parameters() if p.ndim == 1]
    theirs = torch.optim.AdamW(
        [{"params": matrices}, {"params": others, "weight_decay": 0.0}],
        lr=HIGH,
        betas=BETAS,
        weight_decay=DECAY,
    )
    twin_ids = torch.tensor(ids)

    def gradients():
        loss = loss_of(model, ids)
        ours.zero_grad()
        loss.backward()
        return loss.item()

    def twin_gradients():
        logits, targets = twin(twin_ids[:, :-1]), twin_ids[:, 1:]
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        theirs.zero_grad()
        loss.backward()
        return loss.item()

    def step():
        loss = gradients()
        clip_grad_norm(params, CLIP)
        ours.step()
        return loss

    def twin_step():
        loss = twin_gradients()
        tnn.utils.clip_grad_norm_(twin.parameters(), CLIP)
        theirs.step()
        return loss

    gradients()
    twin_gradients()
    gap = max(
        np.abs(p.grad.numpy() - g).max() / np.abs(g).max()
        for p, g in pairs(twin, model, read=lambda p: p.grad)
    )
    return {"minigrad": step, "torch": twin_step}, float(gap)


def race(rounds=5, vocab=65):
    """Return {name: seconds of each timed step}, the gap between gradients, and the gap
    between losses after all rounds.

    The sizes are those of `language_model`. A turn is of 20 steps in a row, after 4
    that do not count: the threads of a library spin for a while when it is done, and
    would slow the other's first steps."""
    nn.seed(0)
    model = GPT(vocab, **SIZES, positions="learned")
    ids = np.random.default_rng(0).integers(vocab, size=(BATCH, CONTEXT + 1))
    steps, gradient_gap = steps_of(model, ids)
    times, losses = {name: [] for name in steps}, {}
    if apart.mpiexec():
        times["minigrad, two ranks"] = []
    for _ in range(rounds):
        for name, step in steps.items():
            for _ in range(4):
                step()
            times[name] += [seconds(step) for _ in range(20)]
            losses[name] = step()
        if apart.mpiexec():
            times["minigrad, two ranks"] += apart.two_ranks()
    return times, gradient_gap, abs(losses["minigrad"] - losses["torch"])
