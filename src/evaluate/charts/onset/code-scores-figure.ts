import { axisX, dot, gridX, ruleX, ruleY, text } from "@observablehq/plot";
import type { OnsetDetails } from "../../evaluation.js";
import { quietAxis } from "../axes.js";
import type { Figure, Panel } from "../figure.js";
import { legendPanel } from "../legend-panel.js";
import { counted } from "../numbers.js";
import { fitted } from "../text.js";
import { theme } from "../theme.js";
import { inRows } from "./in-rows.js";

type CodeScore = OnsetDetails["codes"][number];

const rowHeight = 17;
const margins = { marginTop: 4, marginBottom: 40, marginRight: 10 } as const;
const type = { size: theme.size.tick };
const nameShare = 0.46;

/** Onset AUROC of every code at a horizon, sorted, with intervals; baselines as small marks. */
export function codeScoresFigure(
	codes: readonly CodeScore[],
	{ years, narrow = false }: { readonly years: number; readonly narrow?: boolean },
): Figure {
	const scored = codes
		.filter((code) => code.years === years && code.rows[0]?.auroc)
		.toSorted((a, b) => (b.rows[0]?.auroc?.value ?? 0) - (a.rows[0]?.auroc?.value ?? 0));
	const all = scored.flatMap(({ rows }) =>
		rows.flatMap(({ auroc }, at) =>
			auroc ? (at === 0 ? [auroc.low, auroc.high] : [auroc.value]) : [],
		),
	);
	const domain = [
		Math.max(0, Math.floor(10 * Math.min(0.5, ...all)) / 10),
		Math.min(1, Math.ceil(10 * Math.max(0.6, ...all)) / 10),
	] as const;
	const labels = scored[0]?.rows.map(({ label }) => label) ?? [];
	const across = narrow ? 1 : scored.length > 12 ? 2 : 1;
	const perColumn = Math.ceil(scored.length / across);
	const columns = Array.from({ length: across }, (_, at) =>
		scored.slice(at * perColumn, (at + 1) * perColumn),
	).filter((column) => column.length > 0);
	const above = scored.filter(({ rows }) => (rows[0]?.auroc?.low ?? 0) > 0.5).length;
	return {
		title: `Every code: who gets it within ${years} ${years === 1 ? "year" : "years"}?`,
		subtitle: `AUROC of first records, best first; lines are 95 % intervals`,
		description: `${counted(scored.length, "code")}; the interval of ${above} lies above 0.5, which is guessing.`,
		...(narrow && { width: theme.narrowWidth }),
		rows: [
			...inRows(
				columns.map((column, at) =>
					scorePanel(column, domain, perColumn, at === 0 ? "best" : "the rest"),
				),
				across,
			),
			[
				legendPanel(
					labels.map((name, at) => ({ name, style: styleOf(at) })),
					{ title: "Marks", columns: narrow ? 1 : 4 },
				),
			],
		],
	};
}

/** The model, age and sex, regression, reference model. */
const styleOf = (row: number) =>
	[
		{ symbol: "circle", r: 4.4, fill: theme.accent },
		{ symbol: "times", r: 3.2, stroke: theme.quiet, strokeWidth: 1.4 },
		{ symbol: "triangle", r: 3.2, fill: theme.background, stroke: theme.quiet, strokeWidth: 1.2 },
		{ symbol: "diamond", r: 3.6, fill: theme.background, stroke: theme.second, strokeWidth: 1.6 },
	][Math.min(row, 3)] as { symbol: "circle"; r: number; fill?: string; stroke?: string };

function scorePanel(
	codes: readonly CodeScore[],
	domain: readonly [number, number],
	rows: number,
	title: string,
): Panel {
	const of = (row: number) =>
		codes.flatMap((code, y) => {
			const auroc = code.rows[row]?.auroc;
			return auroc ? [{ ...auroc, y: y + 0.5 }] : [];
		});
	const count = codes[0]?.rows.length ?? 0;
	return {
		title,
		height: rows * rowHeight + margins.marginTop + margins.marginBottom,
		plot: (width) => {
			const marginLeft = Math.round(width * nameShare);
			return {
				...margins,
				marginLeft,
				x: { domain: [...domain] },
				y: { domain: [rows, 0], axis: null },
				marks: [
					gridX({ ticks: 5, stroke: theme.grid, strokeOpacity: 1 }),
					axisX({ ...quietAxis, ticks: 5, label: "AUROC" }),
					ruleX([0.5], { stroke: theme.quiet, strokeDasharray: "4,4" }),
					text(codes, {
						...{ y: (_, at) => at + 0.5, frameAnchor: "left", textAnchor: "end", dx: -8 },
						text: ({ name, code }) => fitted(name || code, marginLeft - 10, type),
					}),
					ruleY(of(0), { x1: "low", x2: "high", y: "y", stroke: theme.accent, strokeOpacity: 0.5 }),
					...Array.from({ length: Math.max(0, count - 1) }, (_, at) =>
						dot(of(at + 1), { x: "value", y: "y", ...styleOf(at + 1) }),
					),
					dot(of(0), { x: "value", y: "y", ...styleOf(0), stroke: theme.background }),
				],
			};
		},
	};
}
