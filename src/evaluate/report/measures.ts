import type { Evaluation, EvaluationRow, Measure, OnsetDetails } from "../evaluation.js";

export interface MeasureKind {
	readonly title: string;
	/** Its name in the list of measures. Default: the title. */
	readonly term?: string;
	readonly better: "more" | "less" | "near 1";
	readonly reading: string;
	/** Factor from the value to the number shown. */
	readonly scale: number;
	readonly digits: number;
	/** Unit of a difference: "points". */
	readonly unit: string;
}

const share = { scale: 100, digits: 1, unit: "points", better: "more" } as const;
const points = { scale: 100, digits: 2, unit: "points", better: "less" } as const;
const way = { ...share, digits: 0 } as const;
const fraction = { scale: 1, digits: 3, unit: "", better: "more" } as const;
const ratio = { scale: 1, digits: 2, unit: "", better: "near 1" } as const;

/** By name in lower case; "onset" are measures of first records within a horizon. */
const kinds: Readonly<Record<string, Omit<MeasureKind, "reading">>> = {
	nats: { ...fraction, title: "nats", unit: "nats", better: "less" },
	accuracy: { ...share, title: "accuracy, %" },
	auprc: { ...fraction, title: "AUPRC" },
	auroc: { ...fraction, title: "AUROC" },
	logloss: { ...fraction, title: "log loss", better: "less" },
	brierskill: { ...points, title: "Brier skill, %", better: "more" },
	calibrationerror: { ...points, title: "calibration error, points" },
	weightedcalibrationerror: { ...points, title: "weighted calibration error, points" },
	topcalibrationerror: { ...points, title: "calibration error of the first choice, points" },
	"onset logloss": { ...fraction, title: "log loss per onset", unit: "nats", better: "less" },
	"onset auroc": { ...fraction, title: "AUROC" },
	"onset averageprecision": { ...points, title: "average precision, %", better: "more" },
	"onset brierskill": { ...points, title: "Brier skill, %", better: "more" },
	"onset loglossshare": { ...way, title: "share of the way in log loss, %" },
	"onset aurocshare": { ...way, title: "share of the way in AUROC, %" },
	"onset observedtoexpected": { ...ratio, title: "observed/expected" },
	"onset weightedcalibrationerror": {
		...points,
		title: "weighted calibration error, points",
		term: "weighted calibration error of risks",
	},
};

/** How to read each of them. */
const readings: Readonly<Record<string, string>> = {
	nats: "The mean of −log p, where p is the predicted probability of the recorded code: 0 is certainty, and one nat less means that p is e = 2.7 times as large.",
	accuracy: "How often the most likely code was the recorded one.",
	auprc:
		"Average precision: patients are ranked by their score, and the share of true cases is averaged over the ranks of the true cases. Guessing gives the share of cases among all; 1 is perfect.",
	auroc:
		"The chance that a patient who became a case was ranked above one who did not: 0.5 is guessing, 1 is perfect.",
	logloss:
		"The mean of −log of the probability that was given to the true label: less is better; it counts ranking and calibration.",
	brierskill:
		"How much of the mean squared error goes if each person has their own probability instead of everybody the share of positives: 0 means no gain, 100 % is perfect.",
	calibrationerror:
		"The mean difference between predicted probability and observed frequency over bins of predictions, weighted by the number of predictions in each, in percentage points.",
	weightedcalibrationerror:
		"The mean difference between predicted probability and observed frequency over bins of all codes, weighted by the predicted probability in each, in percentage points.",
	topcalibrationerror:
		"The mean difference between the probability of the most likely code and how often that code was recorded, over bins weighted by the number of events in each, in percentage points.",
	"onset logloss":
		"How far the predicted probabilities are from what happened: −log of the probability that was given to it (a first record within the horizon, or none), summed over people and codes, and divided by the number of first records. Less is better; it counts ranking and calibration.",
	"onset auroc":
		"The chance that a person who gets a first record within the horizon has a higher predicted risk than one who does not: 0.5 is guessing, 1 is perfect. Mean over codes.",
	"onset averageprecision":
		"People are ranked by predicted risk, and the share of those with a first record is averaged over their ranks: it asks whether the highest risks are the right ones. Guessing gives the share of people with a first record. Mean over codes.",
	"onset brierskill":
		"How much of the mean squared error goes if each person has their own predicted risk instead of everybody the observed one: 0 means no gain, 100 % is perfect.",
	"onset loglossshare":
		"How far the risks have come from those by age and sex (0) to those of the simulator (100 %), in log loss.",
	"onset aurocshare":
		"How far the risks have come from those by age and sex (0) to those of the simulator (100 %), in AUROC.",
	"onset observedtoexpected":
		"First records that were observed, divided by those predicted. Above 1, risks are too low.",
	"onset weightedcalibrationerror":
		"The mean distance of predicted and observed risk over bins of predicted risk, weighted by predicted first records, in percentage points.",
};

/** The kind of a measure, by name; an unknown measure has its name as title. */
export function measureKind(name: string): MeasureKind {
	const id = name.toLowerCase().replace(/^(\w+) [\d.]+y(?: all)?$/, "onset $1");
	if (kinds[id]) return { ...kinds[id], reading: readings[id] ?? "" };
	const [, part] = /^nats (.+)$/i.exec(name) ?? [];
	if (part) return { ...measureKind("nats"), title: `nats ${part}`, term: "nats" };
	const [, top, window] = /^recall@(\d+)(?: (.+))?$/i.exec(name) ?? [];
	if (top)
		return {
			...share,
			title: `recall@${top}${window ? ` ${window}` : ""}, %`,
			term: "recall@K",
			reading:
				"The share of records whose code was among the K most likely codes at their date; for records far ahead, the mean over patients.",
		};
	return { ...fraction, title: name, reading: "" };
}

export const written = (
	value: number,
	{ scale, digits }: Pick<MeasureKind, "scale" | "digits">,
): string =>
	(scale * value)
		.toFixed(digits)
		.replace(/^-(?=[0.]*$)/, "")
		.replace("-", "−");

/** 41.2 (40.1–42.3); after a minus, "to" instead of the dash. */
export const interval = ({ low, high }: Measure, kind: MeasureKind): string =>
	`${written(low, kind)}${low < 0 || high < 0 ? " to " : "–"}${written(high, kind)}`;

/** 41.2 % (40.1–42.3) */
export const withInterval = (measure: Measure, kind: MeasureKind, unit = ""): string =>
	`${written(measure.value, kind)}${unit} (${interval(measure, kind)})`;

/** The direction of a difference; `level` if its interval contains 0. */
type Verdict = "better" | "worse" | "level";

function verdict({ low, high }: Measure, { better }: MeasureKind): Verdict {
	if (low <= 0 && high >= 0) return "level";
	return low > 0 === (better === "more") ? "better" : "worse";
}

/** The negated difference: b − a for a − b. */
const reversed = ({ value, low, high }: Measure): Measure => ({
	value: -value,
	low: -high,
	high: -low,
});

/** The absolute size of a difference, with its interval. */
export const sizeOf = (difference: Measure, kind: MeasureKind): string => {
	const positive = difference.value < 0 ? reversed(difference) : difference;
	return withInterval(positive, kind, kind.unit && ` ${kind.unit}`);
};

/** 0.8 → "80.0 %" */
export const percentOf = (value: number, digits = 1): string =>
	`${(100 * value).toFixed(digits)} %`;

type RowFilter = Partial<Pick<EvaluationRow, "who" | "method" | "setting">>;

export const rowOf = ({ rows }: Evaluation, wanted: RowFilter): EvaluationRow | undefined =>
	rows.find((row) =>
		Object.entries(wanted).every(([field, value]) => row[field as keyof EvaluationRow] === value),
	);

/** The model's time-specific row, or its first row. */
export const mainRow = (evaluation: Evaluation): EvaluationRow | undefined =>
	rowOf(evaluation, { who: "model", method: "time-specific" }) ??
	rowOf(evaluation, { who: "model" });

/** The paired difference `row` minus `than`; undefined if it was not measured. */
function differenceOf(
	{ differences = [] }: Evaluation,
	row: EvaluationRow,
	than: EvaluationRow,
	metric: string,
): Measure | undefined {
	const find = (a: EvaluationRow, b: EvaluationRow) =>
		differences.find(({ row, than }) => row === a.label && than === b.label)?.metrics[metric];
	const other = find(than, row);
	return find(row, than) ?? (other && reversed(other));
}

/** The same, its size and direction, and how to say it. */
export function comparison(
	evaluation: Evaluation,
	row: EvaluationRow,
	than: EvaluationRow | undefined,
	metric: string,
) {
	const difference = than && differenceOf(evaluation, row, than, metric);
	if (!difference) return undefined;
	const kind = measureKind(metric);
	const direction = verdict(difference, kind);
	return {
		difference,
		verdict: direction,
		size: sizeOf(difference, kind),
		says: <T>(said: Readonly<Record<Verdict, T>>): T => said[direction],
	};
}

/** How the oracle forecasts, in words. */
export function futuresOf({ notes }: Evaluation): string {
	const [, count] = notes.map((note) => /by (\d+) sampled futures/.exec(note)).find(Boolean) ?? [];
	return count ? `${count} sampled futures` : "sampled futures";
}

/** The model's rows of a labelled task, by number of labels seen. */
export function settingRows({ rows }: Evaluation): readonly EvaluationRow[] {
	const order = ["zero-shot prototype", "zero-shot risk", "5-shot", "fine-tuned"];
	return rows
		.filter(({ who, setting }) => who === "model" && setting !== undefined)
		.toSorted((a, b) => order.indexOf(a.setting ?? "") - order.indexOf(b.setting ?? ""));
}

/** The horizons of first records that are shown, in years: one and five if they were measured, else the first two. */
export function shownHorizons({ horizons }: Pick<OnsetDetails, "horizons">): readonly number[] {
	const all = horizons.map(({ years }) => years);
	const usual = all.filter((years) => years === 1 || years === 5);
	return usual.length > 0 ? usual : all.slice(0, 2);
}

/** Tasks in the order of the report, each with its title and question. */
const known: Readonly<Record<string, { readonly title: string; readonly question: string }>> = {
	onset: {
		title: "First records",
		question: "Who gets a first record of a condition, and by when?",
	},
	next: { title: "The next record", question: "Which code is recorded next, given its time?" },
	forecast: {
		title: "Records far ahead",
		question: "Which codes are recorded at later dates, given only the beginning of a history?",
	},
	futures: {
		title: "Whole futures",
		question: "Do whole futures look like what happened?",
	},
	insulin: {
		title: "Insulin",
		question: "Does insulin start within six months of the first diabetes record?",
	},
	chf: {
		title: "Heart failure",
		question: "Is heart failure recorded for the first time within three years of an index day?",
	},
	diabetes: {
		title: "Diabetes",
		question: "Is diabetes recorded for the first time within three years of an index day?",
	},
	"chf-paper": {
		title: "Heart failure, as in the paper",
		question: "Is heart failure recorded next? (The days are chosen by the outcome.)",
	},
};

export const taskOf = (task: string) =>
	known[task] ?? { title: task, question: `Is the label “${task}” true?` };

/** Tasks in the order of the report; others follow. */
export const inOrder = <T extends { readonly task: string }>(evaluations: readonly T[]): T[] => {
	const order = Object.keys(known);
	const placeOf = ({ task }: T) => (known[task] ? order.indexOf(task) : order.length);
	return evaluations.toSorted((a, b) => placeOf(a) - placeOf(b));
};
