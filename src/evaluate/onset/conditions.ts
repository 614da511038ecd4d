import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import { binOf } from "../calibration.js";
import type { OnsetDetails } from "../evaluation.js";
import { quantile } from "../quantile.js";
import { aalenJohansen, pointAt } from "../survival/curves.js";
import { decisionCurve } from "../survival/decision-curve.js";
import {
	type SortedFollowUp,
	sortFollowUp,
	sortPredictions,
	takeEntries,
} from "../survival/follow-up.js";
import { type CodeFollowUp, onsetsWithin } from "./outcomes.js";

type Condition = NonNullable<OnsetDetails["conditions"]>[number];

/** PheCodes of common chronic diseases; the first that have enough onsets are shown in detail. */
const chronicDiseases = ["428", "250", "401", "411", "427", "296", "496", "433", "585", "290"];
const mostConditions = 4;

/** How the conditions are chosen, in words. */
export const conditionRule =
	"heart failure, diabetes, hypertension, ischaemic heart disease, dysrhythmia, mood disorders, COPD, cerebrovascular disease, renal failure, dementia: the first four with enough onsets; where none has, the four codes with the most onsets";

/** Tokens of the conditions that are shown in detail, among the codes with enough onsets. */
export function chosenConditions(
	codes: readonly CodeFollowUp[],
	{ tokens }: Vocabulary,
	days: number,
): readonly CodeFollowUp[] {
	const named = chronicDiseases.flatMap((code) =>
		codes.filter(({ token }) => {
			const own = tokens[token];
			return own?.system === "PheCode" && own.code === code;
		}),
	);
	const most = codes.toSorted((a, b) => onsetsWithin(b, days) - onsetsWithin(a, days));
	return (named.length > 0 ? named : most).slice(0, mostConditions);
}

/** Fifths of patients by predicted risk. */
const fifthShares = [0.2, 0.4, 0.6, 0.8] as const;
/** Days per curve, evenly spread over the horizon. */
const curveSteps = 60;

/** Observed incidence by fifths of the risk that a model predicted, at days up to the horizon. */
export function incidenceByFifth(
	followUp: SortedFollowUp,
	horizon: number,
	predicted: ArrayLike<number>,
): Pick<Condition, "days" | "fifths"> {
	const risks = sortPredictions(followUp, predicted);
	const ascending = risks.toSorted();
	const edges = fifthShares.map((share) => quantile(ascending, share));
	const members = Array.from({ length: edges.length + 1 }, (): number[] => []);
	for (const [at, risk] of risks.entries()) members[binOf(edges, risk)]?.push(at);
	const days = Array.from({ length: curveSteps + 1 }, (_, at) =>
		Math.round((horizon * at) / curveSteps),
	);
	return {
		days,
		fifths: members
			.filter((own) => own.length > 0)
			.map((own) => {
				const curve = aalenJohansen(takeEntries(followUp, own));
				const end = pointAt(curve, horizon);
				return {
					count: own.length,
					predicted: own.reduce((sum, at) => sum + (risks[at] as number), 0) / own.length,
					observed: days.map((day) => pointAt(curve, day)?.value ?? null),
					low: end?.low ?? null,
					high: end?.high ?? null,
				};
			}),
	};
}

/** Thresholds of risk at which net benefit is measured. */
const conditionThresholds = [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3];

/** One condition in detail; the first row's risks make the fifths. */
export function conditionDetails(
	code: CodeFollowUp,
	{ years, days }: { readonly years: number; readonly days: number },
	rows: readonly { readonly label: string; readonly risks: Float64Array }[],
	{ tokens }: Vocabulary,
): Condition {
	const { code: text, system, name } = tokens[code.token] as Vocabulary["tokens"][number];
	const followUp = sortFollowUp(code);
	const decisions = rows.map(({ risks }) =>
		decisionCurve(followUp, days, risks, conditionThresholds)(),
	);
	return {
		...{ code: text, system, name, years },
		...{ onsets: onsetsWithin(code, days), atRisk: code.time.length },
		...incidenceByFifth(followUp, days, rows[0]?.risks ?? []),
		decisions: conditionThresholds.flatMap((threshold, at) => {
			const all = decisions[0]?.[at]?.all;
			if (all === undefined) return [];
			return [
				{
					...{ threshold, all },
					rows: rows.map(({ label }, row) => ({
						label,
						netBenefit: decisions[row]?.[at]?.model as number,
					})),
				},
			];
		}),
	};
}
