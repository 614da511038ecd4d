import type { NewPatient } from "../../cohort/index.js";
import type { FoundCode } from "../../infer/asking/index.js";
import { attribute, edited, type RiskTrajectory, riskTrajectories } from "../../infer/index.js";
import type { Predictor } from "../../models/index.js";
import type { Edits } from "./edits.js";

export interface RiskQuestion {
	readonly patient: NewPatient;
	readonly codes: readonly FoundCode[];
	readonly times: Float64Array;
	/** Times at which to tell what drove the risk. */
	readonly attributed: readonly number[];
	readonly whatIf?: Edits | undefined;
}

/** What each event of the history does to the risk of a code at a time. */
export interface Contributions {
	readonly time: number;
	readonly risk: number;
	readonly effects: Float64Array; // [events]
}

export interface CodeRisk {
	readonly code: FoundCode;
	readonly trajectory: RiskTrajectory;
	/** Had the history been another one. */
	readonly whatIf?: RiskTrajectory | undefined;
	readonly contributions: readonly Contributions[];
}

export async function risksOf(
	predictor: Predictor,
	{ patient: { history }, codes, times, attributed, whatIf }: RiskQuestion,
): Promise<CodeRisk[]> {
	const histories = whatIf ? [history, edited(history, whatIf.edits)] : [history];
	const [asIs = [], changed] = await riskTrajectories(
		predictor,
		histories,
		codes.map(({ tokens }) => tokens),
		histories.map(() => times),
	);
	const risks: CodeRisk[] = [];
	for (const [at, code] of codes.entries())
		risks.push({
			code,
			trajectory: asIs[at] as RiskTrajectory,
			whatIf: changed?.[at],
			contributions: await contributionsTo(predictor, history, code, attributed),
		});
	return risks;
}

async function contributionsTo(
	predictor: Predictor,
	history: NewPatient["history"],
	{ tokens }: FoundCode,
	times: readonly number[],
): Promise<Contributions[]> {
	if (times.length === 0) return [];
	const { base, effect } = await attribute(predictor, history, { codes: tokens, times });
	return times.map((time, at) => ({
		time,
		risk: base[at] as number,
		effects: Float64Array.from(
			{ length: history.times.length },
			(_, event) => effect[event * times.length + at] as number,
		),
	}));
}
