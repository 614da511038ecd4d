import type { Measure } from "./evaluation.js";

interface Margin {
	readonly name: string;
	readonly width: number;
	/** Whether the width is a share of what the other row has. */
	readonly isRelative: boolean;
	readonly better: "more" | "less";
}

/** How far apart models of first records may be and still count as equivalent. Fixed before models were compared. */
const margins: Readonly<Record<string, Margin>> = {
	logLoss: { name: "log loss per onset", width: 0.02, isRelative: false, better: "less" },
	auroc: { name: "AUROC", width: 0.01, isRelative: false, better: "more" },
	averagePrecision: { name: "average precision", width: 0.05, isRelative: true, better: "more" },
};

export type Verdict = "ahead" | "behind" | "equivalent" | "undecided";

/**
 * What the interval of a difference says of a row, where the other row has the value `other`. Undefined for a metric
 * without a margin.
 */
export function verdictOf(
	metric: string,
	{ low, high }: Measure,
	other: number,
): Verdict | undefined {
	const [, name = ""] = /^(\w+) [\d.]+y(?: all)?$/.exec(metric) ?? [];
	const margin = Object.hasOwn(margins, name) ? margins[name] : undefined;
	if (!margin) return undefined;
	const widest = margin.isRelative ? margin.width * other : margin.width;
	if (low >= -widest && high <= widest) return "equivalent";
	if (low <= 0 && high >= 0) return "undecided";
	return low > 0 === (margin.better === "more") ? "ahead" : "behind";
}

const marginText = ({ name, width, isRelative }: Margin) =>
	`${isRelative ? `${100 * width} % of the other row's` : width} in ${name}`;

/** What the words beside differences mean. */
export const verdictsText = `Equivalent: the interval of the difference lies within a margin that was fixed beforehand, ±${Object.values(margins).map(marginText).join(", ±")}. Ahead and behind: it does not, and excludes 0. Undecided: it holds 0 and reaches beyond the margin.`;

/** Beside intervals over patients of models that were trained once. */
export const oneSeedText =
	"one training seed: differences between machines and seeds are not in these intervals";
