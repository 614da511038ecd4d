import { areaY, dot, rect, ruleX, ruleY } from "@observablehq/plot";
import type { Evaluation } from "../evaluation.js";
import { normalQuantile, quantile } from "../metrics.js";
import { type Figure, framed, gridAxisX, namesOfRows, type Panel, valuesOfRows } from "./figure.js";
import { counted, percent } from "./numbers.js";
import { widest } from "./text.js";
import { theme } from "./theme.js";

const rowHeight = 34;

/** Recall@10 per patient, by distance ahead. */
export function recallByWindowFigure({
	windows = [],
	split,
}: Pick<Evaluation, "windows" | "split">): Figure {
	const measured = windows.flatMap(({ window, rows: all }) => {
		const rows = all.flatMap((row) => {
			const spread = distributionOf(row.recall);
			return spread ? [{ ...row, ...spread }] : [];
		});
		return rows.length > 0 ? [{ window, rows }] : [];
	});
	const means = measured.map(
		({ window, rows }) =>
			`${window} events ahead: ${rows.map(({ label, mean }) => `${label} ${shares(mean)} %`).join(", ")}.`,
	);
	return {
		title: "Recall of the ten likeliest codes, by distance ahead",
		subtitle: `patients of the ${split} split; each row shows how recall@10 is spread over them`,
		description:
			measured.length === 0
				? "No patient has events to forecast, so there is no recall to show."
				: `Mean recall@10 over patients. ${means.join(" ")}`,
		rows: measured.map(({ window, rows }, index) => [
			windowPanel(window, rows, index === measured.length - 1),
		]),
		notes: [
			measured.length === 0
				? "No patient has events to forecast."
				: "Outline: density over patients. Box: middle half of them. Upright line: median. Diamond: mean, with its 95 % interval (1.96 standard errors).",
		],
	};
}

type Spread = NonNullable<Evaluation["windows"]>[number]["rows"][number] &
	NonNullable<ReturnType<typeof distributionOf>>;

/** Baselines are grey; the oracle is black. */
const colourOf = ({ who, method }: Spread) =>
	({
		model: method === "auto-regressive" ? theme.second : theme.accent,
		oracle: theme.ink,
	})[who as string] ?? theme.neutral;

function windowPanel(window: string, spreads: readonly Spread[], isLast: boolean): Panel {
	const rows = spreads.map((spread, index) => ({
		...spread,
		y: index + 0.5,
		colour: colourOf(spread),
		name: spread.label,
		says: `${shares(spread.mean)} % (${shares(spread.low)}–${shares(spread.high)})`,
	}));
	const marginRight = widest(rows.map(({ says }) => says)) + 16;
	type Row = (typeof rows)[number];
	const around = (half: number) => ({
		y1: ({ y }: Row) => y - half,
		y2: ({ y }: Row) => y + half,
	});
	return {
		title: `${window} events ahead`,
		subtitle: counted(Math.max(...rows.map(({ recall }) => recall.length)), "patient"),
		plot: (width) => {
			const names = namesOfRows(rows, width * 0.3, { bold: true });
			return {
				...framed(rows.length * rowHeight, [2, marginRight, isLast ? 40 : 22, names.width + 12]),
				x: { domain: [0, 1] },
				y: { domain: [rows.length, 0], axis: null },
				marks: [
					gridAxisX(5, isLast ? "recall@10 of a patient" : null, percent),
					rows.map(({ recall, y, colour }) =>
						areaY(shareDensity(recall), {
							x: "share",
							y1: ({ thickness }) => y - 0.42 * thickness,
							y2: ({ thickness }) => y + 0.42 * thickness,
							fill: colour,
							fillOpacity: 0.22,
							stroke: colour,
							strokeWidth: 0.8,
						}),
					),
					rect(rows, {
						...around(0.15),
						x1: ({ quartiles }) => quartiles[0],
						x2: ({ quartiles }) => quartiles[2],
						fill: theme.background,
						fillOpacity: 0.75,
						stroke: "colour",
						strokeWidth: 1.2,
					}),
					ruleX(rows, {
						...around(0.28),
						x: ({ quartiles }) => quartiles[1],
						stroke: theme.ink,
						strokeWidth: 2,
					}),
					ruleY(rows, { y: "y", x1: "low", x2: "high", stroke: theme.ink, strokeWidth: 2 }),
					dot(rows, {
						x: "mean",
						y: "y",
						symbol: "diamond",
						r: 4.5,
						fill: theme.ink,
						stroke: theme.background,
						strokeWidth: 0.8,
					}),
					names.mark,
					valuesOfRows(rows),
				],
			};
		},
	};
}

const shares = (share: number) => (100 * share).toFixed(1);

/**
 * The mean of values with its 95 % interval, 1.96 standard errors to each side (the mean itself for a single value),
 * and their quartiles; undefined if there are none.
 */
export function distributionOf(values: readonly number[]) {
	if (values.length === 0) return undefined;
	const sorted = Float64Array.from(values).sort();
	const count = values.length;
	const mean = values.reduce((sum, value) => sum + value, 0) / count;
	const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
	const half = count < 2 ? 0 : normalQuantile * Math.sqrt(squares / (count - 1) / count);
	const quartiles = [0.25, 0.5, 0.75].map((share) => quantile(sorted, share));
	return { count, mean, low: mean - half, high: mean + half, quartiles };
}

const points = 81;

/** The density of shares between 0 and 1, relative to its maximum: Gaussian kernels, reflected at both ends. */
export function shareDensity(values: readonly number[]): { share: number; thickness: number }[] {
	const spread = distributionOf(values);
	if (!spread) return [];
	const [lower, , upper] = spread.quartiles;
	const width = Math.max(0.03, (0.9 * (upper - lower)) / 1.34 / values.length ** 0.2);
	const kernel = (distance: number) => Math.exp(-0.5 * (distance / width) ** 2);
	const densities = Array.from({ length: points }, (_, index) => {
		const share = index / (points - 1);
		const thickness = values.reduce(
			(sum, value) =>
				sum + kernel(share - value) + kernel(share + value) + kernel(2 - share - value),
			0,
		);
		return { share, thickness };
	});
	const most = Math.max(...densities.map(({ thickness }) => thickness));
	return densities.map(({ share, thickness }) => ({ share, thickness: thickness / most }));
}
