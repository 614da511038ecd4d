#!/bin/bash
# The commands of model.yaml. The folder of a trained model has `dataset` and `run`.
set -euo pipefail

die() {
	echo "trajgpt.sh: $1" >&2
	exit 1
}

command -v trajgpt > /dev/null || die "trajgpt is not on the PATH; README.md says how to install it"

# The name that trajgpt has for a split of MEDS.
split_named() {
	case $1 in
		train) echo train ;;
		tuning) echo valid ;;
		held_out) echo test ;;
		*) die "unknown split $1; expected train, tuning or held_out" ;;
	esac
}

pretrain() {
	local dataset=$1 output=$2 demo=$3 codes=() training=()
	if [ "${demo,,}" = true ]; then
		codes=(--min-count 1)
		training=(--preset tiny --epochs 1)
	fi
	rm -rf "$output/dataset" "$output/run"
	trajgpt prepare "$dataset" --from meds --out "$output/dataset" \
		--kinds diagnosis,drug,procedure,laboratory,other --drugs tokens --unmapped keep \
		--values quantiles:10 --min-records 1 "${codes[@]}"
	trajgpt pretrain "$output/dataset" --out "$output/run" --provider auto "${training[@]}"
}

# The cumulative incidence of every code after each subject's last record, which needs no labels.
risks() {
	local model=$1 split=$2 output=$3
	trajgpt risk "$model/run" --data "$model/dataset" --split "$(split_named "$split")" \
		--years 1 --output "$output/risks.parquet" --force
}

finetune() {
	local model=$1 labels=$2 output=$3 demo=$4 training=()
	if [ "${demo,,}" = true ]; then training=(--epochs 1); fi
	rm -rf "$output/dataset" "$output/run"
	ln -s "$(realpath "$model/dataset")" "$output/dataset"
	cp -R "$model/run" "$output/run"
	trajgpt finetune "$output/run" --task meds --labels "$labels" --provider auto "${training[@]}"
}

predict() {
	local model=$1 dataset=$2 labels=$3 split=$4 output=$5
	trajgpt forecast "$model/run/tasks/meds" --labels "$labels" \
		--splits-from "$dataset/metadata/subject_splits.parquet" --split "$(split_named "$split")" \
		--predictions "$output/predictions.parquet" --predictions-schema meds --force
}

case ${1-} in
	pretrain | risks | finetune | predict) "$@" ;;
	*) die "expected pretrain, risks, finetune or predict" ;;
esac
