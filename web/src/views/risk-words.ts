import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import { afterYears, type CodeRisk, type Risks } from "../engine/risks.js";
import type { PictureFacts } from "../parts/panel.js";
import { momentText, timeCells, yearsText } from "../parts/words.js";
import { codeName } from "../state/patient-context.js";

/** A risk as it is shown: with the one before the edits, and the true one. */
export interface ShownRisk {
	readonly risk: CodeRisk;
	readonly before: CodeRisk | undefined;
	readonly truth: readonly number[] | null;
}

/** The curve before the edits; none if the code was recorded already, because another record has another risk. */
export const curveBefore = (before: CodeRisk | undefined): readonly number[] | undefined =>
	before?.recordedAt === null ? before.curve : undefined;

/** The curves of a risk, with the names of their columns in a saved table and of their lines in a saved drawing. */
const curvesOf = ({ risk, before, truth }: ShownRisk) =>
	[
		["risk", "", risk.curve],
		["before_edits", "was ", curveBefore(before)],
		["same_age_and_sex", "others ", risk.sameAgeAndSex],
		["true_risk", "true ", truth],
	] as const;

/** The lines of a drawn cell per horizon: `1.2 %`, `others 0.8 %`. */
export const drawnRisk = (row: ShownRisk): string[][] =>
	usualYears.map((years) =>
		curvesOf(row).flatMap(([, words, curve]) =>
			curve ? `${words}${riskAfter(curve, years)}` : [],
		),
	);

/** A risk within so many years: 1.2 %, or – beyond what the model has learned. */
export function riskAfter(curve: readonly number[], years: number): string {
	const risk = afterYears(curve, years);
	return risk === undefined ? "–" : percent(risk);
}

/** The risks as a table to save. Cells that do not apply are empty. */
export function riskRows(
	shown: readonly ShownRisk[],
	date: number,
	{ run, population }: PictureFacts,
	vocabulary: Vocabulary,
	clock: Clock,
) {
	return shown.map((row) => {
		const { risk } = row;
		const isFirst = risk.recordedAt === null;
		const cells = curvesOf(row).flatMap(([name, , curve]) =>
			usualYears.map((years) => [
				`${name}_${years}y`,
				isFirst && curve ? afterYears(curve, years) : null,
			]),
		);
		return {
			...timeCells(clock, date),
			code: vocabulary.tokens[risk.token]?.code ?? "",
			name: codeName(vocabulary, risk.token),
			recorded: isFirst ? "no" : "yes",
			...Object.fromEntries(cells),
			population,
			run,
		};
	});
}

const spoken = 3;

/** `Stroke 0.35 % within 1 year, 1.8 % within 5 years, was 1.2 %, people of this age and sex 0.9 %` */
function spokenRisk(risk: CodeRisk, before: CodeRisk | undefined, name: string): string {
	if (risk.recordedAt !== null) return `${name} already recorded`;
	const parts = usualYears.flatMap((years) => {
		const value = afterYears(risk.curve, years);
		if (value === undefined) return [];
		const [was, others] = [curveBefore(before), risk.sameAgeAndSex].map(
			(curve) => curve && afterYears(curve, years),
		);
		return [
			`${percent(value)} within ${yearsText(years)}`,
			...(was == null ? [] : [`was ${percent(was)}`]),
			...(others == null ? [] : [`people of this age and sex ${percent(others)}`]),
		];
	});
	return `${name} ${parts.join(", ")}`;
}

/** New risks, for screen readers. */
export function riskWords(
	{ risks, before, likely }: Risks,
	date: number,
	vocabulary: Vocabulary,
	clock: Clock,
): string {
	const nameOf = (token: number) => codeName(vocabulary, token);
	return [
		`Risks after ${momentText(clock, date)}.`,
		...risks.map((risk, at) => `${spokenRisk(risk, before?.[at], nameOf(risk.token))}.`),
		`Most likely new diagnoses within a year: ${likely
			.slice(0, spoken)
			.map(({ token, probability }) => `${nameOf(token)} ${percent(probability)}`)
			.join(", ")}.`,
	].join(" ");
}
