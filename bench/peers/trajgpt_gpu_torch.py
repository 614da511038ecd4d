"""Training steps of TrajGPT in PyTorch on a GPU: a peer of `trajgpt bench step --provider xla`.

The same model, weights, batch and objective as the bench: next-event cross-entropy, global-norm
clipping, AdamW. Queries, keys, values and gates come from one product, and the weights of the
decays are one matrix per head, in log space.
"""
import math

import torch
import torch.nn.functional as F
from queued import load, serve, settings
from torch import nn

modes = {
    "eager": None,
    "compile": "default",
    "compile-reduce-overhead": "reduce-overhead",
    "compile-max-autotune": "max-autotune",
    "compile-whole-graph": "default",
}


def norm(x, kind):
    return (F.layer_norm if kind == "layer" else F.rms_norm)(x, x.shape[-1:], eps=1e-5)


def rotate(x, cos, sin):
    half = cos.shape[-1]
    a, b, rest = x.split((half, half, x.shape[-1] - 2 * half), dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos, rest), dim=-1).type_as(x)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.inner = nn.Linear(c.dim, 2 * c.key + 2 * c.value, bias=False)
        self.decay = nn.Linear(c.dim, c.heads)
        self.out = nn.Linear(c.value, c.dim, bias=False)
        self.up = nn.Linear(c.dim, c.ff, bias=False)
        self.down = nn.Linear(c.ff, c.dim, bias=False)

    def forward(self, x, cos, sin, mask):
        c = self.c
        b, n, _ = x.shape
        h = norm(x, c.norm)
        qk, v, gate = self.inner(h).split((2 * c.key, c.value, c.value), dim=-1)
        q, k = rotate(qk.view(b, n, 2, c.heads, -1), cos, sin).permute(2, 0, 3, 1, 4).unbind()
        v = v.view(b, n, c.heads, -1).transpose(1, 2)  # [batch, heads, n, size], as q and k
        log_decay = F.logsigmoid(self.decay(h).float()).transpose(1, 2) / c.temperature
        total = log_decay.cumsum(-1)  # [batch, heads, n]
        decay = (total[..., :, None] - total[..., None, :] + mask).exp()
        o = ((q @ k.transpose(-1, -2)) * decay) @ v
        o = norm(o, c.norm).transpose(1, 2).reshape(b, n, c.value)
        x = x + self.out(o * F.silu(gate))
        return x + self.down(F.gelu(self.up(norm(x, c.norm)), approximate="tanh"))


class TrajGPT(nn.Module):
    def __init__(self, c, length):
        super().__init__()
        self.c = c
        self.embed = nn.Embedding(c.vocab, c.dim)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.head = nn.Linear(c.dim, c.vocab, bias=False)
        size = c.key // c.heads
        logs = torch.linspace(math.log(c.shortest), math.log(c.longest), size // 2, dtype=torch.double)
        self.register_buffer("frequency", torch.exp(-logs), persistent=False)
        # Added to the log of the decay: nothing is read of the future, and scores are scaled by 1 / √size.
        mask = torch.full((length, length), -math.inf).triu(1) - math.log(size) / 2
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, tokens, times, targets):
        turns = times[:, :, None, None, None] * self.frequency
        angle = ((turns - turns.floor()) * (2 * math.pi)).float()
        cos, sin = angle.cos(), angle.sin()  # [batch, n, 1, 1, size / 2]
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin, self.mask)
        logits = self.head(norm(x, self.c.norm))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def weights_of(given, layers):
    """The module's tensors, from those of trajgpt."""
    weights = {"embed.weight": given["embedding"], "head.weight": given["head"]}
    for i in range(layers):
        ours, own = f"layers.{i}.", f"layers.{i}."
        inner = [given[ours + part] for part in ("query", "key", "value", "gate")]
        weights[own + "inner.weight"] = torch.cat(inner)
        weights[own + "decay.bias"] = given[ours + "decayBias"]
        for part in ("decay", "out", "up", "down"):
            weights[f"{own}{part}.weight"] = given[ours + part]
    return weights


def tensor(dtype, shape, raw):
    kinds = {"F32": torch.float32, "F64": torch.float64, "I32": torch.int32}
    return torch.frombuffer(raw, dtype=kinds[dtype]).reshape(shape)


def in_one_graph(step):
    """The step as one CUDA graph, captured after three ordinary steps."""
    torch.cuda.set_stream(torch.cuda.Stream())
    graph, losses = torch.cuda.CUDAGraph(), []

    def run():
        if len(losses) < 3:
            losses.append(step())
            return losses[-1]
        if len(losses) == 3:
            with torch.cuda.graph(graph):
                losses.append(step())
        graph.replay()
        return losses[-1]

    return run


def main():
    c = settings(__doc__, modes)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("highest" if c.precision == "float32" else "high")
    given = load(c.data, tensor)
    model = TrajGPT(c, given["next.tokens"].shape[1])
    model.load_state_dict(weights_of(given, c.layers))
    model.to(device)
    tokens, targets = (given[f"next.{name}"].long().to(device) for name in ("tokens", "targets"))
    times = given["next.times"].to(device)
    compiled = modes[c.mode]
    loss_of = torch.compile(model, mode=compiled, fullgraph=True, dynamic=False) if compiled else model
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
            {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0},
        ],
        lr=1e-3, betas=(0.9, 0.95), fused=True, capturable=c.mode == "compile-whole-graph",
    )

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=c.precision == "bf16"):
            loss = loss_of(tokens, times, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()
        return loss.detach()

    on_gpu = device == "cuda"
    serve(
        {
            "engine": f"PyTorch {torch.__version__}, {torch.cuda.get_device_name() if on_gpu else 'CPU'}",
            "parameters": sum(p.numel() for p in parameters),
        },
        in_one_graph(step) if c.mode == "compile-whole-graph" else step,
        lambda loss: torch.cuda.synchronize() if on_gpu else None,
        lambda: torch.cuda.max_memory_allocated() if on_gpu else None,
    )


main()
