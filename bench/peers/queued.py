"""What the peers of `trajgpt bench step --provider xla` share.

A peer gets the bench's weights and batch in a file. For each number of steps that it reads from
standard input, it starts that many steps without waiting in between, waits once, and prints the
seconds and the loss of the last step. The first step compiles; its loss must be the bench's own.
"""
import argparse
import json
import os
import sys
import time


def settings(about, modes=()):
    """Settings of a peer from its command line."""
    p = argparse.ArgumentParser(description=about)
    for name in ("layers", "heads", "dim", "key", "value", "ff", "vocab"):
        p.add_argument(f"--{name}", type=int, required=True)
    for name in ("temperature", "shortest", "longest"):
        p.add_argument(f"--{name}", type=float, required=True)
    p.add_argument("--norm", choices=["rms", "layer"], required=True)
    p.add_argument("--decay", choices=["event"], required=True)
    p.add_argument("--precision", choices=["tf32", "bf16", "float32"], required=True)
    if modes:
        p.add_argument("--mode", choices=modes, required=True)
    p.add_argument("--data", required=True, help="weights and batch, as safetensors")
    return p.parse_args()


def load(path, tensor):
    """What `tensor` makes of the type, shape and bytes of each entry of a safetensors file."""
    data = open(path, "rb").read()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            raw = bytearray(data[start + first : start + last])
            tensors[name] = tensor(entry["dtype"], entry["shape"], raw)
    return tensors


def serve(about, step, wait, peak_bytes):
    """Answers requests: `step` starts a step and returns its loss, `wait` waits until a loss is there."""
    # Compilers print to standard output, too: it is kept for answers, and the rest goes to errors.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(value):
        print(json.dumps(value), file=answers, flush=True)

    answer(about)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            loss = step()
        wait(loss)
        seconds = time.perf_counter() - start
        answer({"seconds": seconds, "loss": float(loss), "peakBytes": peak_bytes()})
