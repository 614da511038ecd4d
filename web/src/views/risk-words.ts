import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import { afterYears, type CodeRisk } from "../engine/risks.js";
import type { Risks } from "../engine/use-risks.js";
import { momentText } from "../parts/words.js";
import { codeName } from "./code-name.js";

const spoken = 3;

/** `Stroke 0.35 % within 1 year, 1.8 % within 5 years, was 1.2 %, people of this age and sex 0.9 %` */
function riskText(risk: CodeRisk, before: CodeRisk | undefined, name: string): string {
	if (risk.recordedAt !== null) return `${name} already recorded`;
	const was = before?.recordedAt === null ? before : undefined;
	const parts = usualYears.flatMap((years) => {
		const value = afterYears(risk.curve, years);
		if (value === undefined) return [];
		const [old, others] = [was?.curve, risk.sameAgeAndSex].map(
			(own) => own && afterYears(own, years),
		);
		return [
			`${percent(value)} within ${years} ${years === 1 ? "year" : "years"}`,
			...(old == null ? [] : [`was ${percent(old)}`]),
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
		...risks.map((risk, at) => `${riskText(risk, before?.[at], nameOf(risk.token))}.`),
		`Most likely new diagnoses within a year: ${likely
			.slice(0, spoken)
			.map(({ token, probability }) => `${nameOf(token)} ${percent(probability)}`)
			.join(", ")}.`,
	].join(" ");
}
