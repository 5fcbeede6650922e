"""A small model with tied weights, for tests of checkpoints, and how it is trained."""

from conftest import array, normal, same

from minigrad import Tensor, nn


class Model(nn.Module):
    """A small model with tied weights."""

    def __init__(self, width=2):
        self.table = nn.Embedding(3, width)
        self.layers = [nn.Linear(width, width), nn.LayerNorm(width)]
        self.tied = self.table.weight
        self.scale = Tensor(1.5)

    def __call__(self, ids):
        x = self.table(ids)
        for layer in self.layers:
            x = layer(x)
        return x @ self.tied.T * self.scale


def train(model, optimizer, steps):
    for seed in steps:
        optimizer.zero_grad()
        model([0, 2, 2]).backward(array(normal(3, 3, seed=seed), "f4"))
        optimizer.step()


def assert_unchanged(thing, before):
    for name, x in thing.state_dict().items():
        same(x, before[name])
