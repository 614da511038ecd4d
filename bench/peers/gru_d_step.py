"""One training step of GRU-D in eager PyTorch: the peer of `trajgpt bench step --model gru-d`.

The same model, weights, batch and objective as the bench: next-event cross-entropy at the events' own
times, global-norm clipping, AdamW. What does not wait for the state is made of all places at once.
"""
import torch
import torch.nn.functional as F
from stepping import load, serve, settings
from torch import nn


def decay(rate):
    return torch.exp(-F.relu(rate))


class GRUD(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed = nn.Embedding(c.vocab, c.dim)
        self.inputs = nn.Parameter(torch.zeros(c.vocab, c.dim))
        self.mean = nn.Parameter(torch.zeros(c.vocab))
        self.input_decay = nn.Parameter(torch.zeros(c.vocab))
        self.input_decay_bias = nn.Parameter(torch.zeros(c.vocab))
        self.hidden_decay = nn.Linear(c.vocab, c.dim)
        self.input = nn.Linear(c.dim, 3 * c.dim)
        self.gates = nn.Linear(c.dim, 2 * c.dim, bias=False)
        self.candidate = nn.Linear(c.dim, c.dim, bias=False)
        self.mask = nn.Linear(c.dim, 3 * c.dim, bias=False)
        self.head = nn.Linear(c.dim, c.vocab, bias=False)

    def decayed(self, last, days, seen=None):
        """What the inputs add before the gates, and the part of the state that is kept."""
        ever = last > 0
        delta = ((days[..., None] + 1 - last).clamp(min=0) / self.c.decayDays) * ever
        kept = ever * decay(delta * self.input_decay + self.input_decay_bias)
        if seen is not None:
            kept = torch.where(seen, torch.ones(()), kept)
        x = kept + (1 - kept) * self.mean
        return self.input(x @ self.inputs), decay(self.hidden_decay(delta))

    def cell(self, state, given):
        d = self.c.dim
        z, r = torch.sigmoid(given[..., : 2 * d] + self.gates(state)).split(d, dim=-1)
        new = torch.tanh(given[..., 2 * d :] + self.candidate(r * state))
        return state + z * (new - state)

    def forward(self, tokens, days, query_days):
        seen = F.one_hot(tokens, self.c.vocab).bool()
        # 1 + the day on which each code was last seen, 0 if never.
        last = torch.where(seen, (days + 1)[..., None], torch.zeros(())).cummax(1).values
        given, kept = self.decayed(F.pad(last, (0, 0, 1, -1)), days, seen)
        given = given + self.mask(self.embed(tokens))
        state = torch.zeros(tokens.shape[0], self.c.dim)
        states = []
        for own, part in zip(given.unbind(1), kept.unbind(1)):
            state = self.cell(part * state, own)
            states.append(state)
        given, kept = self.decayed(last, query_days)
        return self.head(self.cell(kept * torch.stack(states, 1), given))


def names_of():
    """Our name of each tensor, by the module's."""
    return {
        "embed.weight": "embedding",
        "inputs": "inputs",
        "mean": "mean",
        "input_decay": "inputDecay",
        "input_decay_bias": "inputDecayBias",
        "hidden_decay.weight": "hiddenDecay.weight",
        "hidden_decay.bias": "hiddenDecay.bias",
        "input.weight": "gru.input.weight",
        "input.bias": "gru.input.bias",
        "gates.weight": "gru.gates.weight",
        "candidate.weight": "gru.candidate.weight",
        "mask.weight": "mask.weight",
        "head.weight": "head",
    }


def main():
    c = settings(__doc__, whole=("dim", "vocab"), real=("decayDays",))
    given = load(c.data)
    model = GRUD(c)
    model.load_state_dict({a: given[b] for a, b in names_of().items()})
    tokens, targets = given["seen.tokens"].long(), given["next.targets"].long()
    days, query_days = given["seen.days"], given["next.queryDays"]
    serve(model, lambda: F.cross_entropy(model(tokens, days, query_days).flatten(0, 1), targets.flatten()))


main()
