"""One training step of TrajGPT in eager PyTorch: the peer of `trajgpt bench step`.

The same model, weights, batch and objective as the bench: next-event cross-entropy, global-norm
clipping, AdamW. Prints the loss it starts from, which must be the bench's own, then waits between
blocks of steps, so that the two take turns in one run.
"""
import argparse
import json
import math
import sys
import time

import torch
import torch.nn.functional as F
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


def load(path):
    """Tensors of a safetensors file."""
    data = open(path, "rb").read()
    start = 8 + int.from_bytes(data[:8], "little")
    kinds = {"F32": torch.float32, "F64": torch.float64, "I32": torch.int32}
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            raw = bytearray(data[start + first : start + last])
            tensors[name] = torch.frombuffer(raw, dtype=kinds[entry["dtype"]]).reshape(entry["shape"])
    return tensors


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
    p = argparse.ArgumentParser(description=__doc__)
    for name in ("layers", "heads", "dim", "key", "value", "ff", "vocab", "threads"):
        p.add_argument(f"--{name}", type=int, required=True)
    for name in ("temperature", "shortest", "longest"):
        p.add_argument(f"--{name}", type=float, required=True)
    p.add_argument("--norm", choices=["rms", "layer"], required=True)
    p.add_argument("--decay", choices=["event", "time"], required=True)
    p.add_argument("--data", required=True, help="weights and batch, as safetensors")
    c = p.parse_args()
    torch.set_num_threads(c.threads)
    given = load(c.data)
    model = TrajGPT(c)
    model.load_state_dict({a: given[b] for a, b in names_of(c.layers).items()}, strict=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
    tokens, targets = given["next.tokens"].long(), given["next.targets"].long()
    times, gaps = given["next.times"], given["next.gaps"]

    def loss_now():
        return F.cross_entropy(model(tokens, times, gaps).flatten(0, 1), targets.flatten())

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_now()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    print(json.dumps({
        "engine": f"PyTorch {torch.__version__} eager",
        "parameters": sum(x.numel() for x in model.parameters()),
        "loss": loss_now().item(),
    }), flush=True)
    # Each line that comes in is a number of steps to make; their seconds go out.
    for line in sys.stdin:
        seconds = []
        for _ in range(int(line)):
            start = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - start)
        print(json.dumps(seconds), flush=True)


main()
