import { csvLine, table } from "../../base/table.js";
import type { Evaluation, Measure } from "../../evaluate/index.js";

type Metrics = Readonly<Record<string, Measure>>;

export const onsetColumns = [
	{ metric: "auroc", title: "AUROC", scale: 1, digits: 3 },
	{ metric: "averagePrecision", title: "average precision, %", scale: 100, digits: 2 },
	{ metric: "observedToExpected", title: "observed/expected", scale: 1, digits: 2 },
	{
		metric: "weightedCalibrationError",
		title: "weighted calibration error, points",
		scale: 100,
		digits: 2,
	},
];

export function onsetCell(
	measure: Measure | undefined,
	{ scale, digits }: (typeof onsetColumns)[number],
	signed = false,
): string {
	if (!measure) return "";
	const number = (x: number) => {
		const text = (x * scale).toFixed(digits);
		return signed && x > 0 ? `+${text}` : text.replace("-", "−");
	};
	return `${number(measure.value)} [${number(measure.low)}, ${number(measure.high)}]`;
}

const yearsText = (years: number) => `${years} ${years === 1 ? "year" : "years"}`;

/** One table per horizon, with differences, then the subgroups. */
export function onsetText({ rows, differences = [], onset }: Evaluation): string {
	if (!onset) return "";
	const rowsAt = (
		years: number,
		of: readonly { label: string; metrics: Metrics }[],
		signed = false,
	) =>
		of.map(({ label, metrics }) => [
			label,
			...onsetColumns.map((column) =>
				onsetCell(metrics[`${column.metric} ${years}y`], column, signed),
			),
		]);
	const horizons = onset.horizons.map(({ years, codes }) =>
		table(
			[`within ${yearsText(years)}, ${codes} codes`, ...onsetColumns.map(({ title }) => title)],
			[
				...rowsAt(years, rows),
				...rowsAt(
					years,
					differences.map(({ row, than, metrics }) => ({ label: `${row} − ${than}`, metrics })),
					true,
				),
			],
		),
	);
	const first = rows[0]?.label;
	const subgroups = onset.subgroups.flatMap(({ name, years, patients, codes, rows: scored }) => {
		const own = scored.find(({ label }) => label === first);
		if (!own) return [];
		return [
			[
				...[name, yearsText(years), String(patients), String(codes)],
				own.auroc.toFixed(3),
				(100 * own.averagePrecision).toFixed(2),
				own.observedToExpected.toFixed(2),
			],
		];
	});
	const header = [
		"subgroup",
		"within",
		"patients",
		"codes",
		"AUROC",
		"average precision, %",
		"observed/expected",
	];
	return [...horizons, ...(subgroups.length > 0 ? [table(header, subgroups)] : [])].join("\n");
}

/** Every code at every horizon, the highest AUROC of the first row first, as CSV. */
export function onsetCsv({ rows, onset }: Evaluation): string {
	if (!onset) return "";
	const labels = rows.map(({ label }) => label);
	const metrics = ["auroc", "averagePrecision", "observedToExpected"] as const;
	const header = [
		...["years", "code", "system", "name", "patients at risk", "onsets"],
		...labels.flatMap((label) =>
			metrics.flatMap((metric) => [`${label}: ${metric}`, "low", "high"]),
		),
	];
	const firstAuroc = (code: (typeof onset.codes)[0]) => code.rows[0]?.auroc?.value ?? 0;
	const lines = onset.codes
		.toSorted((a, b) => a.years - b.years || firstAuroc(b) - firstAuroc(a))
		.map((code) => [
			...[code.years, code.code, code.system, code.name, code.atRisk, code.onsets],
			...code.rows.flatMap((row) =>
				metrics.flatMap((metric) => {
					const measure = row[metric];
					return measure ? [measure.value, measure.low, measure.high] : [null, null, null];
				}),
			),
		]);
	return [header, ...lines].map(csvLine).join("");
}
