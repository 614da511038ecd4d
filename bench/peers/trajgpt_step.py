"""One training step of TrajGPT in eager PyTorch: the peer of `trajgpt bench step`.

The same model, batch and objective as the bench: next-event cross-entropy, global-norm
clipping, AdamW. Prints one JSON document.
"""
import argparse
import json
import math
import time

import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):
    def __init__(self, dim, kind):
        super().__init__()
        self.kind = kind
        self.weight = nn.Parameter(torch.ones(dim))
        if kind == "layer":
            self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        if self.kind == "layer":
            return F.layer_norm(x, x.shape[-1:], self.weight, self.bias, 1e-5)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.norm1 = Norm(c.dim, c.norm)
        self.norm2 = Norm(c.dim, c.norm)
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

    def forward(self, x, cos, sin, future):
        c = self.c
        h = self.norm1(x)
        q = rotate(self.heads(self.q(h)), cos, sin)
        k = rotate(self.heads(self.k(h)), cos, sin)
        v = self.heads(self.v(h))
        log_decay = F.logsigmoid(self.decay(h)).transpose(1, 2) / c.temperature
        b = log_decay.cumsum(-1)
        decay = (b[..., :, None] - b[..., None, :]).masked_fill(future, -math.inf).exp()
        scores = q @ k.transpose(-1, -2) / math.sqrt(c.key // c.heads)
        o = (scores * decay) @ v
        if c.norm == "layer":
            o = F.layer_norm(o, o.shape[-1:], eps=1e-5)
        else:
            o = o * torch.rsqrt(o.square().mean(-1, keepdim=True) + 1e-5)
        o = o.transpose(1, 2).reshape(x.shape[0], x.shape[1], c.value)
        x = x + self.out(o * F.silu(self.gate(h)))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class TrajGPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed = nn.Embedding(c.vocab, c.dim)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.norm = Norm(c.dim, c.norm)
        self.head = nn.Linear(c.dim, c.vocab, bias=False)
        half = c.key // c.heads // 2
        periods = torch.exp(torch.linspace(math.log(2 / 30), math.log(1217), half))
        self.register_buffer("frequency", 2 * math.pi / periods)

    def forward(self, tokens, times):
        angle = times[:, None, :, None] * self.frequency
        cos, sin = angle.cos(), angle.sin()
        n = tokens.shape[1]
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin, future)
        return self.head(self.norm(x))


def main():
    p = argparse.ArgumentParser()
    for name, value in dict(layers=8, heads=4, dim=200, key=200, value=400, ff=400, vocab=200,
                            batch=16, length=128, threads=2, steps=8, warmup=2).items():
        p.add_argument(f"--{name}", type=int, default=value)
    p.add_argument("--temperature", type=float, default=20)
    p.add_argument("--norm", choices=["rms", "layer"], default="layer")
    c = p.parse_args()
    torch.set_num_threads(c.threads)
    torch.manual_seed(0)
    model = TrajGPT(c)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
    tokens = torch.randint(c.vocab, (c.batch, c.length))
    targets = torch.randint(c.vocab, (c.batch, c.length))
    times = torch.rand(c.batch, c.length).cumsum(1)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(tokens, times).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    for _ in range(c.warmup):
        step()
    seconds = []
    for _ in range(c.steps):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    a = torch.randn(1024, 1024)
    a @ a
    start = time.perf_counter()
    for _ in range(3):
        a @ a
    gflops = 3 * 2 * 1024**3 / (time.perf_counter() - start) / 1e9
    seconds.sort()
    print(json.dumps({
        "engine": f"PyTorch {torch.__version__} eager",
        "secondsPerStep": seconds[len(seconds) // 2],
        "fastest": seconds[0],
        "parameters": sum(x.numel() for x in model.parameters()),
        "matrixProductGflops": gflops,
    }))


main()
