"""What the peers of `trajgpt bench step` share.

A peer gets the bench's weights and batch in a file, prints the loss it starts from, which must be the
bench's own, then waits between blocks of steps, so that the two take turns in one run.
"""
import argparse
import json
import sys
import time

import torch
from torch import nn


def settings(about, whole=(), real=(), choices={}):
    """Settings of a peer from its command line, with `threads` and `data`."""
    p = argparse.ArgumentParser(description=about)
    for name in (*whole, "threads"):
        p.add_argument(f"--{name}", type=int, required=True)
    for name in real:
        p.add_argument(f"--{name}", type=float, required=True)
    for name, allowed in choices.items():
        p.add_argument(f"--{name}", choices=allowed, required=True)
    p.add_argument("--data", required=True, help="weights and batch, as safetensors")
    c = p.parse_args()
    torch.set_num_threads(c.threads)
    return c


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
            if raw:  # Inputs may be empty, and PyTorch reads no empty buffer.
                dtype = kinds[entry["dtype"]]
                tensors[name] = torch.frombuffer(raw, dtype=dtype).reshape(entry["shape"])
    return tensors


def serve(model, loss_now):
    """Reads numbers of steps from standard input, runs them, and prints the seconds of each."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_now()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    model.eval()
    print(json.dumps({
        "engine": f"PyTorch {torch.__version__} eager",
        "parameters": sum(x.numel() for x in model.parameters()),
        "loss": loss_now().item(),
    }), flush=True)
    model.train()
    for line in sys.stdin:
        seconds = []
        for _ in range(int(line)):
            start = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - start)
        print(json.dumps(seconds), flush=True)
