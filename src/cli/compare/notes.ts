import { checkConfig } from "../../base/config.js";
import type { Dataset } from "../../cohort/index.js";
import type { Entry } from "../../evaluate/index.js";
import { forecastMethods, type Model, modelById } from "../../models/index.js";
import { finetuneOptions } from "../../train/index.js";
import { settingsOf } from "../training.js";
import { plainTrajgpt } from "./lines.js";

interface Described {
	readonly label: string;
	readonly model: Model;
	readonly config: unknown;
}

/** What must be known of the lines to read their numbers beside each other. */
export function lineNotes(
	dataset: Dataset,
	entries: readonly Entry[],
	tasks: readonly string[],
	tuning: Readonly<Record<string, unknown>>,
): string[] {
	const lines = entries.map(({ label, model: id, settings }): Described => {
		const model = modelById(id);
		const all = { ...settings, ...settingsOf(dataset) };
		return { label, model, config: checkConfig(model.config, all, `model ${id}`) };
	});
	const plain = entries.find(({ id }) => id === plainTrajgpt.id);
	const labelled = tasks.some((task) => task !== "next" && task !== "forecast");
	return [
		...(plain
			? [`${plain.label}: without the gap as input and without heads that count, as in the paper`]
			: []),
		...(tasks.includes("forecast") ? forecastNotes(lines) : []),
		...(labelled
			? [seenNote(lines, checkConfig(finetuneOptions, tuning, "tuning").maxLength)]
			: []),
	];
}

const named = (lines: readonly Described[]) => lines.map(({ label }) => label).join(", ");

/** By what each line goes when it is not asked otherwise, and who sees more than its own question. */
function forecastNotes(lines: readonly Described[]): string[] {
	const words = {
		"time-specific": "asked at the time of each event",
		"by-order": "asked by how many events ahead each is",
		"auto-regressive": "steps that feed back what they foretold",
	};
	const notes = forecastMethods.flatMap((method) => {
		const own = lines.filter(({ model }) => model.forecasting.methods[0] === method);
		return own.length > 0 ? [`forecast, ${method} (${words[method]}): ${named(own)}`] : [];
	});
	const together = lines.filter(({ model }) => model.forecasting.together);
	return together.length > 0
		? [
				...notes,
				`forecast: the times of all questions of a patient, later ones too, have a say in each answer of ${named(together)}; in the others the time of the question alone, or none`,
			]
		: notes;
}

/** How much of a history each line is shown in labelled tasks. */
function seenNote(lines: readonly Described[], most: number): string {
	const groups = new Map<number, Described[]>();
	for (const line of lines) {
		const seen = line.model.context?.(line.config) ?? Number.POSITIVE_INFINITY;
		groups.set(seen, [...(groups.get(seen) ?? []), line]);
	}
	const texts = [...groups]
		.sort(([a], [b]) => b - a)
		.map(([seen, own]) => {
			const events = Number.isFinite(seen) ? `${Math.min(seen, most)}` : `${most}`;
			const untuned =
				seen <= most ? "" : ` (without fine-tuning ${Number.isFinite(seen) ? seen : "all"})`;
			return `${events}${untuned}: ${named(own)}`;
		});
	return `labelled tasks: of a history the last events are seen, at most ${texts.join("; ")}`;
}
