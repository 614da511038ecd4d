"""The steps of `trajgpt prepare` in pandas, on a folder that `trajgpt simulate` wrote.

Reads claims, prescriptions and people, trims and checks them, maps ICD-9 to PheCodes with the given table, splits by
patient, drops rare codes and short histories until nothing more falls, counts what was dropped, sorts, labels (insulin,
heart failure: the answer and how many events may be seen) and writes the columns. Where pandas has no engine for
Parquet the columns are written as NumPy arrays, which is faster. With --categories texts are read as categories,
a trick that pays where few values repeat. Prints one JSON line: seconds, peak memory, and what must equal ours.
"""

import argparse
import hashlib
import json
import os
import resource
import time

import numpy as np
import pandas as pd

parser = argparse.ArgumentParser()
parser.add_argument("--source")
parser.add_argument("--map")
parser.add_argument("--splits")
parser.add_argument("--out")
parser.add_argument("--min-records", type=int)
parser.add_argument("--min-count", type=int)
parser.add_argument("--categories", action="store_true")
args = parser.parse_args()

started = time.perf_counter()


def read(name, columns):
    """A table with trimmed texts and days since 1970; a missing value in it is an error."""
    kind = "category" if args.categories else str
    table = pd.read_csv(os.path.join(args.source, name), usecols=columns, dtype={c: kind for c in columns if c != "date"})
    for column in columns:
        if column == "date":
            continue
        if args.categories:
            table[column] = table[column].cat.rename_categories(lambda text: text.strip())
        else:
            table[column] = table[column].str.strip()
    table["day"] = pd.to_datetime(table.pop("date"), format="%Y-%m-%d").astype("int64") / 86400e9
    if table.isna().any().any():
        raise SystemExit(f"{name}: a value is missing")
    return table


def days(column):
    return (pd.to_datetime(column, format="%Y-%m-%d") - pd.Timestamp(0)) / pd.Timedelta(days=1)


claims = read("claims.csv", ["patient", "date", "icd9"])
drugs = read("prescriptions.csv", ["patient", "date", "drug", "atc"])
people = pd.read_csv(os.path.join(args.source, "people.csv"), dtype={"patient": str, "sex": str})
people["birth"], people["death"] = days(people["birth"]), days(people["death"])
rows = len(claims) + len(drugs)

# People: one birth each, none after the first record.
if (people.groupby("patient")["birth"].nunique() > 1).any():
    raise SystemExit("two birth dates")
span = pd.concat([claims[["patient", "day"]], drugs[["patient", "day"]]]).groupby("patient", observed=True)["day"].agg(["min", "max"])
known = people.set_index("patient").reindex(span.index)
late_births = int((known["birth"] > span["min"]).sum())
after_death = int((known["death"] < span["max"]).sum())
backwards = int(((claims["patient"] == claims["patient"].shift()) & (claims["day"] < claims["day"].shift())).sum())
repeated = int(claims.duplicated(["patient", "day", "icd9"]).sum())

# Codes.
phecode_of = pd.read_csv(args.map, dtype=str).set_index("icd9")["phecode"]
if args.categories:
    mapped = pd.Categorical(claims["icd9"].cat.categories.map(phecode_of))
    claims["phecode"] = mapped.codes[claims["icd9"].cat.codes]
    names = mapped.categories
    claims["who"], ids = claims["patient"].cat.codes, claims["patient"].cat.categories
else:
    claims["phecode"], names = pd.factorize(claims["icd9"].map(phecode_of))
    claims["who"], ids = pd.factorize(claims["patient"], sort=True)
unmapped = int((claims["phecode"] < 0).sum())
claims = claims[claims["phecode"] >= 0]

# Filters.
split_of = pd.read_csv(args.splits, dtype=str).set_index("patient")["split"].reindex(ids).to_numpy()
tally = claims.groupby(["who", "phecode"], sort=False).size().rename("n").reset_index()
tally["train"] = split_of[tally["who"]] == "train"
kept = np.ones(len(ids), bool)
while True:
    inside = tally[kept[tally["who"]]]
    counts = inside[inside["train"]].groupby("phecode")["n"].sum()
    codes = counts[counts >= args.min_count]
    lengths = inside[inside["phecode"].isin(codes.index)].groupby("who")["n"].sum()
    still = np.zeros(len(ids), bool)
    still[lengths.index[lengths >= args.min_records]] = True
    if (still == kept).all():
        break
    kept = still
lost = inside[~inside["phecode"].isin(codes.index)].groupby("phecode")["n"].sum()
rare = int(lost.sum())

# Events, in order.
order = codes.sort_values(ascending=False).index
token = np.full(len(names), -1)
token[order] = np.arange(len(order)) + 5
claims["token"] = token[claims["phecode"]]
cohort = claims[kept[claims["who"]]]
events = cohort[cohort["token"] >= 0].sort_values(["who", "day"], kind="stable")
position = events.groupby("who").cumcount()
own = events.groupby("who").size()
first = own.cumsum() - own

# Labels. Whole days, so the record that asks is the first of its code.
last = span["max"].reindex(ids).to_numpy()
insulin = drugs[drugs["atc"].astype(str).str.startswith("A10A")].groupby("patient", observed=True)["day"].min().reindex(ids).to_numpy()
diabetes = cohort[np.asarray(names)[cohort["phecode"]] == "250"].groupby("who")["day"].min()
asked = pd.DataFrame({"onset": diabetes, "insulin": insulin[diabetes.index], "last": last[diabetes.index]})
asked["value"] = asked["insulin"] <= asked["onset"] + 183
asked = asked[~(asked["insulin"] < asked["onset"]) & (asked["value"] | (asked["last"] >= asked["onset"] + 183))]
is_250 = np.asarray(names)[events["phecode"]] == "250"
asked["seen"] = position[is_250].groupby(events["who"][is_250]).first() + 1

failing = cohort[np.asarray(names)[cohort["phecode"]] == "428"][["who", "day"]].drop_duplicates().sort_values(["who", "day"])
gap = failing.groupby("who")["day"].diff()
failures = failing.assign(gap=gap).groupby("who").agg(day=("day", "min"), gap=("gap", "min"))
chf = pd.DataFrame({"day": last[own.index]}, index=own.index)
chf["value"] = chf.index.isin(failures.index)
chf.loc[failures.index, "day"] = failures["day"]
seen = events["day"] < events["who"].map(chf["day"])
chf["seen"] = seen.groupby(events["who"]).sum()
chf = chf[~chf.index.isin(failures.index[~(failures["gap"] <= 365)]) & (chf["seen"] > 0)]

# Files.
os.makedirs(args.out, exist_ok=True)
at = lambda name: os.path.join(args.out, name)
columns = {"time": events["day"].to_numpy() / 30, "token": events["token"].to_numpy(np.int32), "patient": events["who"].to_numpy(np.int32)}
try:
    import pyarrow  # noqa: F401

    pd.DataFrame(columns).to_parquet(at("events.parquet"))
    written = "Parquet"
except ImportError:
    for name, values in columns.items():
        np.save(at(f"{name}.npy"), values)
    written = "NumPy"
digest = hashlib.sha256(columns["time"].tobytes() + columns["token"].tobytes()).hexdigest()
table = known.reindex(ids[own.index]).assign(split=split_of[own.index], first=first.to_numpy(), count=own.to_numpy())
table.to_csv(at("patients.csv"))
asked.to_csv(at("insulin.csv"))
chf.to_csv(at("chf.csv"))

print(
    json.dumps(
        {
            "engine": f"pandas {pd.__version__}{', categories' if args.categories else ''}, {written} out",
            "seconds": time.perf_counter() - started,
            "peakBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "digest": digest,
            "counts": {
                "rows": rows,
                "patients": int(kept.sum()),
                "events": len(events),
                "tokens": len(order) + 5,
                "unmapped": unmapped,
                "rare": rare,
                "insulin": [len(asked), int(asked["value"].sum()), int(asked["seen"].sum())],
                "chf": [len(chf), int(chf["value"].sum()), int(chf["seen"].sum())],
            },
            "noted": {"repeated": repeated, "backwards": backwards, "lateBirths": late_births, "afterDeath": after_death},
        }
    )
)
