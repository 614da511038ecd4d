import { formatCount } from "../../base/progress.js";
import type { Manifest } from "../../cohort/index.js";
import { specialCount } from "../../cohort/vocabulary.js";
import type { ScoreSummary } from "../../evaluate/index.js";
import type { PretrainSummary } from "../../train/index.js";
import { percent, table } from "../table.js";
import { type DemoSettings, demoFiles } from "./folder.js";
import type { NextEventTable, PatientAnswers } from "./results.js";
import { preset } from "./steps.js";

export interface DemoReport {
	readonly out: string;
	readonly settings: DemoSettings;
	readonly counts: Manifest["counts"];
	readonly training: PretrainSummary;
	readonly next: NextEventTable;
	readonly patient: PatientAnswers;
}

export function render(report: DemoReport): string {
	return [population(report), nextEvents(report), patient(report.patient), onward(report.out)].join(
		"\n",
	);
}

const whole = (n: number) => n.toLocaleString("en-US");
const share = (part: number) => percent(part).padStart(6);

function population({ settings, counts }: DemoReport): string {
	return (
		`${whole(settings.patients)} simulated people: ${whole(counts.events)} events, ` +
		`${whole(counts.tokens - specialCount)} codes. All rates are invented.\n`
	);
}

function nextEvents({ next: { frequencies, history, model }, training }: DemoReport): string {
	const row = (name: string, { nats, accuracy }: ScoreSummary) => [
		name,
		nats.toFixed(3),
		share(accuracy),
	];
	const name = `TrajGPT, ${preset}: ${formatCount(training.parameters)} parameters, ${training.epochs} epochs`;
	return [
		`Which event comes next, given its time? ${whole(model.events)} events of ${whole(model.patients)} test patients:\n\n`,
		table(
			["", "nats", "accuracy"],
			[
				row("code frequencies in training", frequencies),
				row("the patient's own past, smoothed", history),
				row(name, model),
			],
		),
		"\nnats: mean -log p of what came, lower is better. ",
		history.smoothing === null
			? "Validation chose to smooth the own past away.\n"
			: `The own past is smoothed with ${history.smoothing.toFixed(1)} events\nspread as in training, a number chosen on the validation patients.\n`,
	].join("");
}

function patient({ id, sex, events, lastEvents, answers }: PatientAnswers): string {
	const age = (years: number | null) => (years === null ? "" : years.toFixed(1));
	const rows = answers[0]?.top.map((_, rank) =>
		answers.flatMap(({ top }) => {
			const answer = top[rank];
			return answer ? [answer.name, share(answer.probability)] : ["", ""];
		}),
	);
	return [
		`One of them, ${id}${sex ? `, ${sex}` : ""}, with ${whole(events)} events; the last:\n\n`,
		table(
			["age", "code", "name"],
			lastEvents.map(({ ageYears, code, name }) => [age(ageYears), code, name]),
		),
		"\nIf something is recorded so long after the last event, what is it?\n\n",
		table(
			answers.flatMap(({ after }) => [`+${after}`, ""]),
			rows ?? [],
		),
	].join("");
}

function onward(out: string): string {
	const { dataset, run } = demoFiles(out);
	const lines = {
		[`trajgpt describe ${dataset}`]: "what the population is like",
		[`trajgpt pretrain ${dataset} --out runs/next --preset ${preset} --objective next`]:
			"the paper's objective",
		"trajgpt bench infer --preset tiny": "how fast it answers",
	};
	const entries = Object.entries(lines).map(([line, does]) => `  npx ${line}  # ${does}\n`);
	return [
		`The weights are in ${run}/best, the log in ${run}/log.jsonl (and for TensorBoard in ${run}/tensorboard).\n`,
		"To try next:\n",
		...entries,
	].join("");
}
