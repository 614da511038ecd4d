"""One training step of TrajGPT in eager PyTorch: the peer of `trajgpt bench step`.

The same model, weights, batch and objective as the bench: next-event cross-entropy, global-norm
clipping, AdamW.
"""
import math

import torch
import torch.nn.functional as F
from stepping import load, serve, settings
from torch import nn


def norm(x, kind):
    if kind == "layer":
        return F.layer_norm(x, x.shape[-1:], eps=1e-5)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def rotate(x, cos, sin):
    half = cos.shape[-1]
    a, b, rest = x.split((half, half, x.shape[-1] - 2 * half), dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos, rest), dim=-1)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.q = nn.Linear(c.dim, c.key, bias=False)
        self.k = nn.Linear(c.dim, c.key, bias=False)
        self.v = nn.Linear(c.dim, c.value, bias=False)
        self.gate = nn.Linear(c.dim, c.value, bias=False)
        self.decay = nn.Linear(c.dim, c.heads)
        self.out = nn.Linear(c.value, c.dim, bias=False)
        self.up = nn.Linear(c.dim, c.ff, bias=False)
        self.down = nn.Linear(c.ff, c.dim, bias=False)

    def heads(self, x):
        b, n, _ = x.shape
        return x.view(b, n, self.c.heads, -1).transpose(1, 2)

    def forward(self, x, gaps, cos, sin, future):
        c = self.c
        h = norm(x, c.norm)
        q = rotate(self.heads(self.q(h)), cos, sin)
        k = rotate(self.heads(self.k(h)), cos, sin)
        v = self.heads(self.v(h))
        log_decay = F.logsigmoid(self.decay(h)).transpose(1, 2) / c.temperature
        if c.decay == "time":
            log_decay = log_decay * gaps[:, None, :]
        b = log_decay.cumsum(-1)
        decay = (b[..., :, None] - b[..., None, :]).masked_fill(future, -math.inf).exp()
        scores = q @ k.transpose(-1, -2) / math.sqrt(c.key / c.heads)
        o = (scores * decay) @ v
        o = norm(o, c.norm)
        o = o.transpose(1, 2).reshape(x.shape[0], x.shape[1], c.value)
        x = x + self.out(o * F.silu(self.gate(h)))
        return x + self.down(F.gelu(self.up(norm(x, c.norm)), approximate="tanh"))


class TrajGPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed = nn.Embedding(c.vocab, c.dim)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.head = nn.Linear(c.dim, c.vocab, bias=False)
        half = c.key // c.heads // 2
        periods = torch.exp(torch.linspace(math.log(c.shortest), math.log(c.longest), half, dtype=torch.double))
        self.register_buffer("frequency", 1 / periods)

    def forward(self, tokens, times, gaps):
        turns = times[:, None, :, None] * self.frequency
        angle = ((turns - turns.floor()) * (2 * math.pi)).float()
        cos, sin = angle.cos(), angle.sin()
        n = tokens.shape[1]
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, gaps, cos, sin, future)
        return self.head(norm(x, self.c.norm))


def names_of(layers):
    """Our name of each tensor, by the module's."""
    names = {"embed.weight": "embedding", "head.weight": "head"}
    parts = {"q": "query", "k": "key", "v": "value", "gate": "gate", "decay": "decay", "out": "out",
             "up": "up", "down": "down"}
    for i in range(layers):
        names.update({f"layers.{i}.{a}.weight": f"layers.{i}.{b}" for a, b in parts.items()})
        names[f"layers.{i}.decay.bias"] = f"layers.{i}.decayBias"
    return names


def main():
    c = settings(
        __doc__,
        whole=("layers", "heads", "dim", "key", "value", "ff", "vocab"),
        real=("temperature", "shortest", "longest"),
        choices={"norm": ["rms", "layer"], "decay": ["event", "time"]},
    )
    given = load(c.data)
    model = TrajGPT(c)
    model.load_state_dict({a: given[b] for a, b in names_of(c.layers).items()}, strict=False)
    tokens, targets = given["next.tokens"].long(), given["next.targets"].long()
    times, gaps = given["next.times"], given["next.gaps"]
    serve(model, lambda: F.cross_entropy(model(tokens, times, gaps).flatten(0, 1), targets.flatten()))


main()
