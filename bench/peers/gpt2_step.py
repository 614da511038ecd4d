"""One training step of GPT-2 in eager PyTorch: the peer of `trajgpt bench step --model gpt2`.

The same model, weights, batch and objective as the bench: next-event cross-entropy, global-norm
clipping, AdamW. One projection makes queries, keys and values, as one writes it in PyTorch.
"""
import math

import torch
import torch.nn.functional as F
from stepping import load, serve, settings
from torch import nn


def attend(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    n = q.shape[-2]
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return scores.masked_fill(future, -math.inf).softmax(-1) @ v


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.norm_1 = nn.LayerNorm(c.dim)
        self.qkv = nn.Linear(c.dim, 3 * c.dim)
        self.out = nn.Linear(c.dim, c.dim)
        self.norm_2 = nn.LayerNorm(c.dim)
        self.up = nn.Linear(c.dim, c.ff)
        self.down = nn.Linear(c.ff, c.dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (
            part.view(b, n, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm_1(x)).split(d, dim=2)
        )
        x = x + self.out(attend(q, k, v).transpose(1, 2).reshape(b, n, d))
        return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embed = nn.Embedding(c.vocab, c.dim)
        self.positions = nn.Embedding(c.positions, c.dim)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.norm = nn.LayerNorm(c.dim)

    def forward(self, tokens):
        x = self.embed(tokens) + self.positions.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.embed.weight)


def state_of(given, layers):
    """The module's state from our tensors."""
    state = {"embed.weight": given["embedding"], "positions.weight": given["positions"]}

    def take(module, ours, names=(("weight", "weight"), ("bias", "bias"))):
        for a, b in names:
            parts = [given[f"{name}.{b}"] for name in ours]
            state[f"{module}.{a}"] = torch.cat(parts)

    affine = (("weight", "scale"), ("bias", "shift"))
    take("norm", ["norm"], affine)
    for i in range(layers):
        at = f"layers.{i}"
        take(f"{at}.norm_1", [f"{at}.attentionNorm"], affine)
        take(f"{at}.qkv", [f"{at}.attention.{part}" for part in ("query", "key", "value")])
        take(f"{at}.out", [f"{at}.attention.out"])
        take(f"{at}.norm_2", [f"{at}.feedForwardNorm"], affine)
        take(f"{at}.up", [f"{at}.feedForward.up"])
        take(f"{at}.down", [f"{at}.feedForward.down"])
    return state


def main():
    c = settings(__doc__, whole=("layers", "heads", "dim", "ff", "vocab", "positions"))
    given = load(c.data)
    model = GPT2(c)
    model.load_state_dict(state_of(given, c.layers))
    tokens, targets = given["seen.tokens"].long(), given["next.targets"].long()
    serve(model, lambda: F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten()))


main()
