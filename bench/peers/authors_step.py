"""One training step of the authors' code: the peer of `bench authors-code`.

Their model on random codes and ages in months, with random embeddings in the file that it reads, and their
optimizer. Nothing of the checkout is changed.
"""
import argparse
import os
import random
import sys
import tempfile
from types import SimpleNamespace

import torch
from queued import serve


def settings():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--checkout", required=True)
    p.add_argument("--device", choices=["cpu", "cuda"], required=True)
    for name in ("rows", "length", "codes", "threads", "layers", "heads", "dim", "key", "value", "ff"):
        p.add_argument(f"--{name}", type=int, required=True)
    p.add_argument("--temperature", type=float, required=True)
    return p.parse_args()


def model_of(c):
    """Their model, with the names of settings in their `run_pretrain.py`."""
    sys.path.insert(0, os.path.abspath(c.checkout))
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "data"))
        with open(os.path.join(folder, "data", "phecode_embeddings.csv"), "w") as file:
            file.write(",".join(["PheCode", *(str(i) for i in range(c.dim))]) + "\n")
            for code in range(1, c.codes + 1):
                file.write(",".join([str(code), *(str(random.gauss(0, 1)) for _ in range(c.dim))]) + "\n")
        os.chdir(folder)
        from models.TrajGPT import TrajGPT

        model = TrajGPT(
            SimpleNamespace(
                num_layers=c.layers,
                num_heads=c.heads,
                d_model=c.dim,
                qk_dim=c.key,
                v_dim=c.value,
                ffn_proj_size=c.ff,
                tau=c.temperature,
                dropout=0.1,
                use_bias_in_sra=False,
                use_bias_in_mlp=True,
                use_bias_in_sra_out=False,
                use_default_gamma=False,
                use_grad_ckp=False,
            ),
            head_type="pretrain",
        )
        os.chdir("/")
    return model.to(c.device)


def main():
    c = settings()
    torch.set_num_threads(c.threads)
    model = model_of(c)
    codes = torch.randint(1, c.codes + 1, (c.rows, c.length), device=c.device)
    months = torch.randint(0, 3, (c.rows, c.length), device=c.device).cumsum(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    model.train()

    def step():
        optimizer.zero_grad()
        loss = model(X=codes, input_time=months, y=codes, forward_impl="parallel")
        loss.backward()
        optimizer.step()
        return loss.detach()

    on_gpu = c.device == "cuda"
    serve(
        {
            "engine": f"PyTorch {torch.__version__}, {torch.cuda.get_device_name() if on_gpu else 'CPU'}",
            "parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        },
        step,
        lambda loss: torch.cuda.synchronize() if on_gpu else None,
        lambda: torch.cuda.max_memory_allocated() if on_gpu else None,
    )


main()
