import { InputError } from "../../base/errors.js";
import type { Dataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { EvaluateOptions } from "../options.js";
import { type LabelPrediction, personAt, type RowPredictions } from "../predictions.js";
import { outcomeAt } from "../survival/at-horizon.js";
import { sortFollowUp } from "../survival/follow-up.js";
import { daysOf, type Opened, type Predictions } from "./opened.js";

/** The token whose predictions are passed on. */
export function predictedToken({ folder, vocabulary }: Dataset, { code }: EvaluateOptions): number {
	const token =
		code === undefined ? undefined : vocabulary.tokens.findIndex((own) => own.code === code);
	if (token !== undefined && token >= specialCount) return token;
	throw new InputError(
		code === undefined
			? "predictions of task onset are those of one code; name it with `code`"
			: `code "${code}" is not in the vocabulary of ${folder}; \`trajgpt describe\` lists its codes`,
		{ field: "code", value: code },
	);
}

/** The predictions of one code, at every horizon, for the patients without it on their index day. */
export function codePredictions(
	{ dataset, options, cohort, codes, horizons }: Opened,
	{ name, risks }: Predictions,
): RowPredictions {
	const token = predictedToken(dataset, options);
	const own = codes.find((code) => code.token === token);
	if (!own)
		throw new InputError(
			`code "${options.code}" has ranges of values: its first record is a first test, which is not measured; name another \`code\``,
			{ field: "code", value: options.code },
		);
	const followUp = sortFollowUp(own);
	const vocab = dataset.vocabulary.size;
	const predictions = horizons.flatMap((years, at) => {
		const outcome = outcomeAt(followUp, daysOf(years));
		const weights = outcome.weigh()?.weights;
		return Array.from(followUp.patient, (place, entry): LabelPrediction => {
			const { history, day } = cohort.patients[place] as (typeof cohort.patients)[number];
			const weight = weights?.[entry] ?? 0;
			return {
				...personAt(history, day),
				...{ time: day, horizonDays: daysOf(years), weight },
				label: weight === 0 ? null : outcome.labels[entry] === 1,
				probability: risks[at]?.[place * vocab + token] as number,
			};
		});
	});
	const censored = predictions.filter(({ label }) => label === null).length;
	return {
		row: name.label,
		predictions,
		notes: [
			`${censored} of ${predictions.length} predictions have no label: observation ends before the horizon; the others have weights that stand for them, which only the plain schema has`,
		],
	};
}
