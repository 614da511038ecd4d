import type { Dataset, Label } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import type { LabelQuery, Scoring, Trained } from "../../model/train/index.js";
import {
	labelFamilies,
	labelRows,
	lastEvents,
} from "../../model/train/regressions/label-features.js";
import * as regressions from "../../model/train/regressions/label-regression.js";
import { viewsOf } from "./label-set.js";
import { atMost, mostProbed } from "./regression.js";
import { labelColumns, ownLogOdds, taskCodes } from "./task-labels.js";

type LabelsOfSplits = Readonly<Record<"train" | "valid", readonly Label[]>>;

/** What fine-tuning starts from. */
export interface LabelStart {
	readonly labels: Readonly<Record<"train" | "valid", readonly LabelQuery[]>>;
	readonly regression?: NonNullable<Scoring["regression"]>;
}

/**
 * A regression of the labels on what was recorded, and the labels with its log-odds as offsets. The offset of a label
 * comes from a regression that has not seen the person, or the network would start from log-odds that are too good.
 * Where the model has learned hazards of the task, the regression is around its own risk. Models without pre-training
 * start from nothing.
 */
export async function labelStart(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	task: string,
	{ train, valid }: LabelsOfSplits,
	maxLength: number,
): Promise<LabelStart> {
	if (trained.model.pretraining === "none") return { labels: { train, valid } };
	const codes = taskCodes(task, dataset.vocabulary, undefined);
	const columns = labelColumns(dataset.vocabulary, codes);
	const rowsOf = async (labels: readonly Label[]) => {
		const views = await viewsOf(dataset, labels);
		const known = await ownLogOdds(runtime, trained, dataset, labels, codes);
		const read = views.map((view) => lastEvents(view, maxLength));
		return { rows: labelRows(columns, read, known), outcomes: regressions.labelOutcomes(labels) };
	};
	const labels = [...train, ...valid];
	const learned = await rowsOf(labels);
	const [fewer, fewerValid] = [atMost(train, mostProbed), atMost(valid, mostProbed)];
	const isThinned = fewer.length + fewerValid.length < labels.length;
	const precisions = regressions.choosePrecisions(columns, {
		...(isThinned ? await rowsOf([...fewer, ...fewerValid]) : learned),
		parts: regressions.heldOutParts(fewer, fewerValid),
	});
	const parts = regressions.crossValidationParts(labels);
	const offsets = regressions.logOddsOutside(columns, { ...learned, parts }, precisions);
	const queries = labels.map((label, i) => ({ ...label, offset: offsets[i] }));
	return {
		labels: { train: queries.slice(0, train.length), valid: queries.slice(train.length) },
		regression: {
			families: [...labelFamilies],
			groups: columns.settings.groups,
			related: [...columns.related],
			coefficients: Array.from(regressions.fitLabels(columns, learned, precisions)),
		},
	};
}
