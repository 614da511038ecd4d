import { simulatedText } from "../../base/simulated.js";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import { roundUpTimeRange } from "../../data/cohort/privacy-rounding.js";
import { settingText } from "../../model/hazards/settings.js";
import type { CodeConfig } from "../../model/heads.js";
import { weightCount } from "../../model/index.js";
import type { Scoring, Trained } from "../../model/train/index.js";
import type { Evaluation } from "../index.js";
import { inOrder, measureKind, taskOf, withInterval } from "./measures.js";

const years = (days: number) => (days / yearDays).toFixed(1);

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
	[head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Recall at some distance, and at other lengths of the list by novelty, are left to the report. */
const isShown = (metric: string) =>
	!/^recall@\d+ \d+–|^recall@(?!10 )\d+ (known|new)|(first|rest) of a day$/.test(metric);

/** The heading of a measure: AUROC, 5 years. */
function headingOf(metric: string): string {
	const [, years] = /([\d.]+)y$/.exec(metric) ?? [];
	const { title } = measureKind(metric);
	return years ? `${title}, ${years} ${years === "1" ? "year" : "years"}` : title;
}

function evaluationSection(evaluation: Evaluation, step: number): string {
	const { task, split, patients, rows, made } = evaluation;
	const { title, question } = taskOf(task);
	const metrics = [...new Set(rows.flatMap((row) => Object.keys(row.metrics)))].filter(isShown);
	const stale =
		made.step === step ? "" : ` Measured with the weights of step ${made.step}, not these.`;
	return [
		`### ${title}`,
		`${question} ${thousands(patients)} patients of the ${split} split; 95 % intervals from a bootstrap over patients.${stale}`,
		table(
			["", ...metrics.map(headingOf)],
			rows.map(({ label, metrics: measures }) => [
				label,
				...metrics.map((metric) => {
					const kind = measureKind(metric);
					const measure = measures[metric];
					return measure ? withInterval(measure, kind) : "";
				}),
			]),
		),
	].join("\n\n");
}

function dataSection({ manifest, vocabulary }: Trained): string {
	const { counts, filters } = manifest;
	const reach = manifest.reach && roundUpTimeRange(manifest.reach);
	const split = (name: keyof typeof counts.splits) => {
		const { patients, events } = counts.splits[name];
		return `${thousands(patients)} patients, ${thousands(events)} events`;
	};
	const kinds = new Map<string, number>();
	for (const { kind } of vocabulary.tokens) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
	return table(
		["", ""],
		[
			["training", split("train")],
			["validation", split("valid")],
			["test", split("test")],
			["tokens", [...kinds].map(([kind, n]) => `${n} ${kind}`).join(", ")],
			["fewest records per code", thousands(filters.minCount)],
			...(reach ? [["longest training history", `${years(reach.longestDays)} years`]] : []),
			...(reach?.oldestDays ? [["oldest age in training", years(reach.oldestDays)]] : []),
		],
	);
}

const taskSection = ({ task, definition, source, horizonDays, prevalence }: Scoring) =>
	`Fine-tuned to ${task}: the probability of ${definition}. ${source === undefined ? "" : `Defined by: ${source}. `}${horizonDays === undefined ? "" : `Horizon: ${Number(horizonDays.toFixed(2))} days. `}${(100 * prevalence).toPrecision(2)} % of the training labels are positive. \`model.score\` of the library uses the fine-tuned weights (\`task.safetensors\`), and so does \`label.onnx\`, if it is there; everything else uses those before fine-tuning.`;

/** `model-card.md`: the model, its training data, evaluations and limits. */
export function modelCard(trained: Trained, evaluations: readonly Evaluation[]): string {
	const { model, config, weights, step, run, task } = trained;
	const settings = Object.entries(config as Record<string, unknown>);
	return `${[
		`# ${model.name}`,
		`A forecaster of coded events (diagnoses above all) at irregular times: from a history and a time, the probability of each code there. ${thousands(weightCount(weights))} parameters, float32. ${model.cite}.`,
		...(run.simulated
			? [`**It was trained on a ${simulatedText}.** What it says about risks is invented.`]
			: []),
		"**This is not a medical device.** It has not been validated for care. Do not use it to decide about a person.",
		...(task ? ["## Task", taskSection(task.scoring)] : []),
		"## Data",
		dataSection(trained),
		"Numbers only: no record of a patient is in this folder. Names and counts of codes are in `vocabulary.json`.",
		"## Model and training",
		table(
			["setting", "value"],
			[
				...settings.map(([name, value]) => [settingName(name), settingText(value)]),
				["training step of the weights", thousands(step)],
				["epochs requested", String(run.options.epochs)],
				["seed", String(run.options.seed)],
			],
		),
		"## Evaluation",
		...(evaluations.length > 0
			? inOrder(evaluations).map((evaluation) => evaluationSection(evaluation, step))
			: ["Nothing was measured before the export: `trajgpt evaluate RUN`, then export again."]),
		"## Limits",
		[
			"- It predicts what is recorded, not what is true: coding habits, insurance and access to care are part of what it learned.",
			"- It knows the codes of its vocabulary and no others, and the people of its training data: age, sex, country and years unlike theirs are guesses.",
			"- Probabilities of a forecast are of the code of *one* event at a time that is given; whether there is an event at all is another question.",
			...((config as CodeConfig).hazards
				? [
						"- Risks are the probability of a record within a horizon, death competing: of the first record of a code or, where it is recorded already, of another one.",
					]
				: []),
			"- Times beyond the longest training history are extrapolation.",
			"- What drives a prediction is found by leaving events out; it shows what the model uses, not what causes what.",
			"- Weights can reveal something of the data they were learned from; treat them as the data's owner demands.",
		].join("\n"),
	].join("\n\n")}\n`;
}

const names: Readonly<Record<string, string>> = {
	vocab: "codes in the vocabulary, special ones included",
	hazards: "risks, learned in",
	dim: "width",
	key: "width of queries and keys",
	value: "width of values",
	ff: "width inside the feed-forward layers",
	decay: "memory decays by",
	decayUnitDays: "unit of decay, days",
	temperature: "temperature of the decay",
	shortestPeriodDays: "shortest period of the time encoding, days",
	longestPeriodDays: "longest period of the time encoding, days",
	position: "position of a record by",
	positions: "positions with a vector, if absolute",
	gap: "time to the query",
	head: "weights of the output",
	norm: "normalization",
};

/** The name of a model setting in words: decayUnitDays → "unit of decay, days". */
export const settingName = (name: string): string =>
	names[name] ?? name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
