"""Training steps of TrajGPT in JAX: a peer of `trajgpt bench step --provider xla`.

The same model, weights, batch and objective as the bench: next-event cross-entropy, global-norm
clipping, AdamW. One program per step, whose weights and moments are updated in place.
"""
import os
from functools import partial

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np
from queued import load, serve, settings

# The whole turns of an angle are taken off in float64.
jax.config.update("jax_enable_x64", True)

LEARNING_RATE, BETA1, BETA2, EPSILON, WEIGHT_DECAY, CLIP = 1e-3, 0.9, 0.95, 1e-8, 0.1, 1.0


def norm(x, kind):
    if kind == "layer":
        x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5)


def rotate(x, cos, sin):
    half = cos.shape[-1]
    a, b, rest = jnp.split(x, (half, 2 * half), axis=-1)
    return jnp.concatenate((a * cos - b * sin, a * sin + b * cos, rest), axis=-1)


def product(c):
    """Products of the chosen precision, which keep float32 outside of them."""
    operand = jnp.bfloat16 if c.precision == "bf16" else jnp.float32

    def einsum(axes, a, b):
        return jnp.einsum(axes, a.astype(operand), b.astype(operand)).astype(jnp.float32)

    return einsum


def layer(c, w, x, cos, sin, causal):
    b, n, _ = x.shape
    size = c.key // c.heads
    einsum = product(c)
    h = norm(x, c.norm)
    inner = einsum("bnd,ed->bne", h, w["inner"])
    qk, v, gate = jnp.split(inner, (2 * c.key, 2 * c.key + c.value), axis=-1)
    qk = rotate(qk.reshape(b, n, 2, c.heads, size), cos, sin)
    q, k, v = qk[:, :, 0] * size**-0.5, qk[:, :, 1], v.reshape(b, n, c.heads, -1)
    logits = einsum("bnd,hd->bhn", h, w["decay"]) + w["decay_bias"][:, None]
    total = jnp.cumsum(jax.nn.log_sigmoid(logits) / c.temperature, axis=-1)
    decay = jnp.exp(jnp.where(causal, total[..., :, None] - total[..., None, :], -jnp.inf))
    scores = einsum("bihs,bjhs->bhij", q, k) * decay
    o = norm(einsum("bhij,bjhv->bihv", scores, v), c.norm).reshape(b, n, c.value)
    x = x + einsum("bnv,dv->bnd", o * jax.nn.silu(gate), w["out"])
    up = jax.nn.gelu(einsum("bnd,fd->bnf", norm(x, c.norm), w["up"]), approximate=True)
    return x + einsum("bnf,df->bnd", up, w["down"])


def loss_of(c, w, tokens, times, targets):
    half = c.key // c.heads // 2
    frequency = np.exp(-np.linspace(np.log(c.shortest), np.log(c.longest), half))
    turns = times[:, :, None, None, None] * frequency
    angle = ((turns - jnp.floor(turns)) * (2 * np.pi)).astype(jnp.float32)
    n = tokens.shape[1]
    shared = (jnp.cos(angle), jnp.sin(angle), np.tri(n, dtype=bool))
    x = w["embedding"][tokens]
    for each in w["layers"]:
        x = layer(c, each, x, *shared)
    logits = product(c)("bnd,vd->bnv", norm(x, c.norm), w["head"])
    # A comparison fuses into the sum; a gather would need a scatter for its gradient.
    chosen = jnp.where(targets[..., None] == np.arange(c.vocab), jax.nn.log_softmax(logits), 0)
    return -jnp.sum(chosen) / targets.size


def updated(state, gradient):
    """One AdamW update with clipping; vectors do not decay."""
    weights, first, second, step = state
    squares = [jnp.sum(jnp.square(g)) for g in jax.tree.leaves(gradient)]
    scale = jnp.minimum(1, CLIP / (jnp.sqrt(sum(squares)) + 1e-6))
    step = step + 1
    rate1, rate2 = 1 - BETA1**step, 1 - BETA2**step
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * (scale * g), first, gradient)
    second = jax.tree.map(
        lambda v, g: BETA2 * v + (1 - BETA2) * jnp.square(scale * g), second, gradient
    )

    def moved(w, m, v):
        kept = w * (1 - LEARNING_RATE * WEIGHT_DECAY) if w.ndim > 1 else w
        return kept - LEARNING_RATE * (m / rate1) / (jnp.sqrt(v / rate2) + EPSILON)

    return jax.tree.map(moved, weights, first, second), first, second, step


def weights_of(given, layers):
    """The weights as arrays, those of a layer together, from the tensors of trajgpt."""
    def of_layer(i):
        own = lambda part: given[f"layers.{i}.{part}"]
        inner = np.concatenate([own(part) for part in ("query", "key", "value", "gate")])
        plain = {part: own(part) for part in ("decay", "out", "up", "down")}
        return {"inner": inner, "decay_bias": own("decayBias"), **plain}

    all_layers = [of_layer(i) for i in range(layers)]
    return {"embedding": given["embedding"], "head": given["head"], "layers": all_layers}


def tensor(dtype, shape, raw):
    kinds = {"F32": np.float32, "F64": np.float64, "I32": np.int32}
    return np.frombuffer(raw, dtype=kinds[dtype]).reshape(shape)


def main():
    c = settings(__doc__)
    if c.precision == "float32":  # The default is TF32 on GPUs.
        jax.config.update("jax_default_matmul_precision", "highest")
    given = load(c.data, tensor)
    device = jax.devices()[0]
    weights = weights_of(given, c.layers)
    zeros = lambda: jax.tree.map(np.zeros_like, weights)
    state = jax.device_put((weights, zeros(), zeros(), np.float32(0)), device)
    batch = jax.device_put([given[f"next.{name}"] for name in ("tokens", "times", "targets")], device)

    @partial(jax.jit, donate_argnums=0)
    def program(state, batch):
        loss, gradient = jax.value_and_grad(partial(loss_of, c))(state[0], *batch)
        return updated(state, gradient), loss

    def step():
        nonlocal state
        state, loss = program(state, batch)
        return loss

    serve(
        {
            "engine": f"JAX {jax.__version__}, {device.device_kind}",
            "parameters": sum(w.size for w in jax.tree.leaves(weights)),
        },
        step,
        lambda loss: loss.block_until_ready(),
        lambda: (device.memory_stats() or {}).get("peak_bytes_in_use"),
    )


main()
