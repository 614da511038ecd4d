"""One training step of PatchTST in eager PyTorch: the peer of `trajgpt bench step --model patchtst`.

The same model, weights, windows and objective as the bench: cross-entropy of the codes in masked
patches, global-norm clipping, AdamW. Written for windows without padding, so it needs no masks.
"""
import math

import torch
import torch.nn.functional as F
from stepping import load, serve, settings
from torch import nn


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.qkv = nn.Linear(c.dim, 3 * c.dim)
        self.out = nn.Linear(c.dim, c.dim)
        self.norm_1 = nn.BatchNorm1d(c.dim)
        self.up = nn.Linear(c.dim, c.ff)
        self.down = nn.Linear(c.ff, c.dim)
        self.norm_2 = nn.BatchNorm1d(c.dim)

    def normed(self, norm, x):
        return norm(x.flatten(0, 1)).view_as(x)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (
            part.view(b, n, self.heads, -1).transpose(1, 2)
            for part in self.qkv(x).split(d, dim=2)
        )
        shares = (q @ k.transpose(-1, -2) / math.sqrt(d / self.heads)).softmax(-1)
        x = self.normed(self.norm_1, x + self.out((shares @ v).transpose(1, 2).reshape(b, n, d)))
        return self.normed(self.norm_2, x + self.down(F.gelu(self.up(x), approximate="tanh")))


class PatchTST(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        patches = c.window // c.patch
        self.embed = nn.Embedding(c.vocab, c.dim)
        self.patch = nn.Linear(c.patch * c.dim, c.dim)
        self.positions = nn.Parameter(torch.zeros(patches, c.dim))
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.restore = nn.Linear(c.dim, c.patch * c.dim)
        # The head that forecasts is learned later: it takes no part in this step but the update's.
        self.ahead = nn.Linear(patches * c.dim, c.ahead * c.dim)
        self.head = nn.Linear(c.dim, c.vocab, bias=False)

    def forward(self, tokens, shown):
        b, n = tokens.shape
        x = (self.embed(tokens) * shown[..., None]).view(b, n // self.c.patch, -1)
        x = self.patch(x) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.head(self.restore(x).view(b, n, -1))


def state_of(given, layers):
    """The module's state from our tensors."""
    state = {"embed.weight": given["embedding"], "positions": given["positions"], "head.weight": given["head"]}

    def take(module, ours, names=(("weight", "weight"), ("bias", "bias"))):
        for a, b in names:
            state[f"{module}.{a}"] = torch.cat([given[f"{name}.{b}"] for name in ours])

    norm = (("weight", "scale"), ("bias", "shift"), ("running_mean", "mean"), ("running_var", "variance"))
    for name in ("patch", "restore", "ahead"):
        take(name, [name])
    for i in range(layers):
        at = f"layers.{i}"
        take(f"{at}.qkv", [f"{at}.attention.{part}" for part in ("query", "key", "value")])
        take(f"{at}.out", [f"{at}.attention.out"])
        take(f"{at}.norm_1", [f"{at}.attentionNorm"], norm)
        take(f"{at}.up", [f"{at}.feedForward.up"])
        take(f"{at}.down", [f"{at}.feedForward.down"])
        take(f"{at}.norm_2", [f"{at}.feedForwardNorm"], norm)
        for part in ("norm_1", "norm_2"):
            state[f"{at}.{part}.num_batches_tracked"] = torch.tensor(0)
    return state


def main():
    c = settings(__doc__, whole=("layers", "heads", "dim", "ff", "vocab", "window", "patch", "ahead"))
    given = load(c.data)
    model = PatchTST(c)
    model.load_state_dict(state_of(given, c.layers))
    windows = {name: given[f"masked.{name}"].view(-1, c.window) for name in ("tokens", "shown", "mask", "targets", "weights")}
    if not windows["mask"].all():
        raise SystemExit("windows with padding; ask for longer rows")
    tokens, targets = windows["tokens"].long(), windows["targets"].long().flatten()
    weights = windows["weights"].flatten()

    def loss_now():
        each = F.cross_entropy(model(tokens, windows["shown"]).flatten(0, 1), targets, reduction="none")
        return (each * weights).sum() / weights.sum()

    serve(model, loss_now)


main()
