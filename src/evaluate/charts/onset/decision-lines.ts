import type { OnsetDetails } from "../../evaluation.js";

export type Condition = NonNullable<OnsetDetails["conditions"]>[number];

export type Decision = Condition["decisions"][number];

/** Net benefit by threshold of risk, in true cases per 1,000 people. */
export interface DecisionLine {
	readonly name: string;
	readonly kind: "model" | "baseline" | "all";
	readonly values: readonly { readonly threshold: number; readonly benefit: number }[];
}

const perThousand = 1000;

/** The lines of a decision curve: the model, a baseline if there is one, treat all; treat none is 0. */
export function decisionLines(decisions: readonly Decision[]): DecisionLine[] {
	const values = (benefit: (point: Decision) => number | undefined) =>
		decisions.flatMap((point) => {
			const value = benefit(point);
			return value === undefined
				? []
				: [{ threshold: point.threshold, benefit: perThousand * value }];
		});
	const rows = decisions[0]?.rows.slice(0, 2) ?? [];
	return [
		...rows.map(({ label }, index) => ({
			name: label,
			kind: index === 0 ? ("model" as const) : ("baseline" as const),
			values: values((point) => point.rows[index]?.netBenefit),
		})),
		{ name: "treat all", kind: "all" as const, values: values(({ all }) => all) },
	];
}

/** What a drawing of the lines shows: up to the last threshold at which the model has some benefit. */
export function decisionFrame(lines: readonly DecisionLine[]): {
	readonly thresholds: readonly [number, number];
	readonly benefits: readonly [number, number];
} {
	const most =
		1.1 * Math.max(1e-3, ...lines.flatMap(({ values }) => values.map(({ benefit }) => benefit)));
	const modelValues = lines[0]?.values ?? [];
	const last = modelValues.findLast(({ benefit }) => benefit > 0.02 * most);
	return {
		thresholds: [modelValues[0]?.threshold ?? 0, Math.max(0.05, last?.threshold ?? 0)],
		benefits: [-0.3 * most, most],
	};
}

/** The first and last threshold at which the model is above treating all and none; undefined if there is none. */
export function usefulThresholds(
	decisions: readonly Decision[],
): readonly [number, number] | undefined {
	const best = decisions.filter(({ all, rows }) => (rows[0]?.netBenefit ?? 0) > Math.max(0, all));
	const [first, last] = [best[0], best.at(-1)];
	return first && last ? [first.threshold, last.threshold] : undefined;
}
