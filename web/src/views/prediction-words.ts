import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { counted, percent } from "../../../src/evaluate/charts/numbers.js";
import type { NamedCurve } from "../charts/probability-chart.js";
import type { PatientEvent } from "../data/patient.js";
import { endOfDay } from "../engine/index-day.js";
import { type Panels, topCount } from "../engine/panels.js";
import { momentText } from "../parts/words.js";
import { codeName } from "./code-name.js";

const spoken = 3;

/** How much of a history is known on a date: `after 50 of 341 events`. */
export function knownText(events: readonly PatientEvent[], date: number): string {
	const known = events.filter(({ time }) => time < endOfDay(date)).length;
	return `after ${known} of ${counted(events.length, "event")}`;
}

/** `Diabetes mellitus 0.22 % at the date, was 0.18 %, 0.44 % after 5 years` */
export function probabilityWords(
	{ name, times, probability, base }: NamedCurve,
	/** The end of the day of prediction. */
	until: number,
	horizonYears: number,
): string {
	const at = times.indexOf(until);
	const was = base ? `, was ${percent(base.probability[at] ?? 0)}` : "";
	const later = `${percent(probability.at(-1) ?? 0)} after ${horizonYears} ${horizonYears === 1 ? "year" : "years"}`;
	return `${name} ${percent(probability[at] ?? 0)} at the date${was}, ${later}`;
}

/** How many of the later events were among the most likely codes at their time. */
export function recallText({ later, queries }: Panels): string {
	if (later.length === 0) return "no events recorded within this horizon";
	const hits = later.filter(({ hit }) => hit).length;
	const all = `${hits} of ${counted(later.length, "later event")}`;
	return `${all} among the ${topCount} most likely codes at their time, a recall of ${percent(hits / later.length)}${queries.moreLater ? "; only the first events are compared" : ""}`;
}

/** New predictions, for screen readers. */
export function predictionWords(
	panels: Panels,
	curves: readonly NamedCurve[],
	horizonYears: number,
	vocabulary: Vocabulary,
	clock: Clock,
): string {
	const { date, until } = panels.queries;
	const likely = panels.top
		.slice(0, spoken)
		.map(({ token, probability }) => `${codeName(vocabulary, token)} ${percent(probability)}`);
	return [
		`Predictions for ${momentText(clock, date)}.`,
		`Most likely: ${likely.join(", ")}.`,
		...(curves.length > 0
			? [
					`Probability: ${curves.map((curve) => probabilityWords(curve, until, horizonYears)).join("; ")}.`,
				]
			: []),
		`Recorded after this date: ${recallText(panels)}.`,
	].join(" ");
}
