"""The steps of `trajgpt prepare` in pandas, on a folder that `trajgpt simulate` wrote.

Reads claims, prescriptions and people, maps ICD-9 to PheCodes with the given table, splits by patient, drops rare
codes and short histories until nothing more falls, sorts, labels (insulin, heart failure) and writes the columns.
Where pandas has no engine for Parquet the columns are written as NumPy arrays, which is faster.
Prints one JSON line: seconds, rows, peak memory, and the counts that must equal ours.
"""

import argparse
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
args = parser.parse_args()

started = time.perf_counter()


def path(name):
    return os.path.join(args.source, name)


def days(column):
    return pd.to_datetime(column, format="%Y-%m-%d").astype("int64") / 86400e9


claims = pd.read_csv(path("claims.csv"), dtype={"patient": "category", "icd9": "category"})
claims["day"] = days(claims.pop("date"))
drugs = pd.read_csv(path("prescriptions.csv"), dtype={"patient": "category", "atc": "category"}, usecols=["patient", "date", "atc"])
drugs["day"] = days(drugs.pop("date"))
people = pd.read_csv(path("people.csv"), dtype={"patient": "string"})
people["birth"] = days(people["birth"])
rows = len(claims) + len(drugs)

backwards = ((claims["patient"] == claims["patient"].shift()) & (claims["day"] < claims["day"].shift())).sum()
repeated = claims.duplicated(["patient", "day", "icd9"]).sum()

table = pd.read_csv(args.map, dtype="string")
phecode_of = table.set_index("icd9")["phecode"]
phecodes = pd.Categorical(claims["icd9"].cat.categories.map(phecode_of))
claims["phecode"] = pd.Series(phecodes.codes[claims["icd9"].cat.codes], index=claims.index)
claims = claims[claims["phecode"] >= 0]

splits = pd.read_csv(args.splits, dtype="string").set_index("patient")["split"]
ids = claims["patient"].cat.categories
split_of = splits.reindex(ids).to_numpy()
claims["who"] = claims["patient"].cat.codes

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

order = codes.sort_values(ascending=False).index
token_of = pd.Series(np.arange(len(order)) + 5, index=order)
token = np.full(len(phecodes.categories), -1)
token[token_of.index] = token_of
claims["token"] = token[claims["phecode"]]
cohort = claims[kept[claims["who"]]]
events = cohort[cohort["token"] >= 0].sort_values(["who", "day"], kind="stable")

last = pd.concat([claims[["patient", "day"]], drugs[["patient", "day"]]]).groupby("patient", observed=True)["day"].max()
names = np.asarray(phecodes.categories)
diabetes = cohort[names[cohort["phecode"]] == "250"].groupby("patient", observed=True)["day"].min()
insulin = drugs[drugs["atc"].astype("string").str.startswith("A10A")].groupby("patient", observed=True)["day"].min()
cases = pd.DataFrame({"onset": diabetes}).join(insulin.rename("insulin")).join(last.rename("last"))
cases = cases[~(cases["insulin"] < cases["onset"])]
cases["value"] = cases["insulin"] <= cases["onset"] + 183
cases = cases[cases["value"] | (cases["last"] >= cases["onset"] + 183)]
failing = cohort[names[cohort["phecode"]] == "428"][["who", "day"]].drop_duplicates().sort_values(["who", "day"])
gap = failing.groupby("who")["day"].diff()
failures = failing.assign(gap=gap).groupby("who").agg(first=("day", "min"), gap=("gap", "min"))
failures = failures.join(events.groupby("who")["day"].min().rename("seen"))
positive = int(((failures["gap"] <= 365) & (failures["seen"] < failures["first"])).sum())

os.makedirs(args.out, exist_ok=True)
try:
    import pyarrow  # noqa: F401

    events[["who", "day", "token"]].to_parquet(os.path.join(args.out, "events.parquet"))
    written = "Parquet"
except ImportError:
    np.save(os.path.join(args.out, "time.npy"), events["day"].to_numpy() / 30)
    np.save(os.path.join(args.out, "token.npy"), events["token"].to_numpy(np.int32))
    np.save(os.path.join(args.out, "patient.npy"), events["who"].to_numpy(np.int32))
    written = "NumPy"
people.merge(pd.DataFrame({"patient": ids[kept]}).astype("string")).to_csv(os.path.join(args.out, "patients.csv"))
cases.to_csv(os.path.join(args.out, "insulin.csv"))

print(
    json.dumps(
        {
            "engine": f"pandas {pd.__version__}, {written} out",
            "seconds": time.perf_counter() - started,
            "rows": rows,
            "peakBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "patients": int(kept.sum()),
            "events": len(events),
            "tokens": len(order) + 5,
            "repeated": int(repeated),
            "backwards": int(backwards),
            "insulin": [len(cases), int(cases["value"].sum())],
            "chfPositive": positive,
        }
    )
)
