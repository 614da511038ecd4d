import { formatCount } from "../../base/progress.js";
import { csvLine } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import type { Measure } from "../evaluation.js";
import type { Column } from "./cells.js";
import {
	bestOfColumns,
	type Comparison,
	type Difference,
	isOnCpu,
	type Line,
	type LineMeasure,
	partsOf,
} from "./comparison.js";

const none = "—";

const number = ({ scale, digits }: Column, value: number) =>
	(value * scale).toFixed(digits).replace("-", "−");

/** Half the width of the interval, written after ±. */
const half = (column: Column, { low, high }: Measure) =>
	(((high - low) / 2) * column.scale).toFixed(column.digits);

/** A number that is known of trained lines, unless it says nothing about them. */
const ofTraining =
	(write: (training: NonNullable<Line["training"]>) => string | undefined) =>
	({ training }: Line) =>
		(training && write(training)) ?? none;

const extras: readonly { title: string; of: (line: Line) => string }[] = [
	{ title: "seeds", of: ({ seeds }) => (seeds > 0 ? String(seeds) : none) },
	{ title: "parameters", of: ofTraining(({ parameters }) => formatCount(parameters)) },
	{
		title: "CPU s/epoch",
		of: ofTraining((one) => (isOnCpu(one) ? one.cpuSecondsPerEpoch.toFixed(1) : undefined)),
	},
	{
		title: "GPU s",
		of: ofTraining((one) => (isOnCpu(one) ? undefined : one.seconds?.toFixed(0))),
	},
	{
		title: "peak MiB",
		of: ofTraining((one) =>
			isOnCpu(one) ? thousands(Math.round(one.peakBytes / 2 ** 20)) : undefined,
		),
	},
];

/** Those that some line has. Not repeated in the part of the table that has known and new codes apart. */
const extrasOf = ({ columns, lines }: Comparison) =>
	columns.some(({ novelty }) => novelty === undefined)
		? extras.filter(({ of }) => lines.some((line) => of(line) !== none))
		: [];

const unitOf = ({ scale }: Column) => (scale === 100 ? ", %" : "");

const titleOf = (column: Column) => `${column.title}${unitOf(column)}`;

const headerOf = (columns: readonly Column[]) => [
	"",
	...columns.map((column) => `${column.group} ${titleOf(column)}`),
];

/** For the terminal: every line as text, below two header rows. */
export function textRows(comparison: Comparison): {
	header: [string[], string[]];
	rows: string[][];
} {
	const { columns, lines } = comparison;
	const more = extrasOf(comparison);
	const groups = columns.map((column, index) =>
		columns[index - 1]?.group === column.group ? "" : column.group,
	);
	return {
		header: [
			["", ...groups, ...more.map(() => "")],
			["", ...columns.map(titleOf), ...more.map(({ title }) => title)],
		],
		rows: lines.map((line) => [
			line.label,
			...columns.map((column, index) => {
				const measure = line.values[index];
				return measure ? `${number(column, measure.value)} ±${half(column, measure)}` : none;
			}),
			...more.map(({ of }) => of(line)),
		]),
	};
}

export function markdown(comparison: Comparison): string {
	const { failed, notes } = comparison;
	return [
		partsOf(comparison).map(markdownLines).join("\n"),
		"\nBold: best of the trained models; underlined: second. In brackets: 95 % intervals over patients; sd: standard deviation over seeds.\n",
		...partsOf(comparison)
			.flatMap(differenceTables)
			.map(({ title, header, rows }) => `\n${title}\n\n${markdownTable([header, ...rows])}`),
		...notes.map((note) => `\n- ${note}`),
		...failed.map(({ label, reason }) => `\n- ${label} failed: ${reason}`),
		"\n",
	].join("");
}

/** The texts of a line's values; those of the best and of the second-best trained line are marked. */
function markedCells(
	comparison: Comparison,
	write: (text: string, column: Column, measure: LineMeasure, mark: Mark) => string,
	missing: string,
): string[][] {
	const first = bestOfColumns(comparison);
	return comparison.lines.map(({ values }, line) =>
		comparison.columns.map((column, index) => {
			const measure = values[index];
			if (!measure) return missing;
			const { best, second } = first[index];
			const mark = line === best ? "best" : line === second ? "second" : "none";
			return write(number(column, measure.value), column, measure, mark);
		}),
	);
}

type Mark = "best" | "second" | "none";

function markdownLines(comparison: Comparison): string {
	const { columns, lines } = comparison;
	const more = extrasOf(comparison);
	const marks = { best: ["**", "**"], second: ["<u>", "</u>"], none: ["", ""] } as const;
	const cells = markedCells(
		comparison,
		(text, column, { low, high, seedDeviation }, mark) => {
			const [open, close] = marks[mark];
			const deviation = seedDeviation === undefined ? "" : ` (sd ${number(column, seedDeviation)})`;
			return `${open}${text}${close} [${number(column, low)}, ${number(column, high)}]${deviation}`;
		},
		none,
	);
	return markdownTable([
		[...headerOf(columns), ...more.map(({ title }) => title)],
		...lines.map((line, index) => [line.label, ...cells[index], ...more.map(({ of }) => of(line))]),
	]);
}

function markdownTable([header = [], ...rows]: readonly (readonly string[])[]): string {
	const row = (texts: readonly string[]) => `| ${texts.join(" | ")} |\n`;
	return [header, header.map((_, index) => (index === 0 ? "---" : "---:")), ...rows]
		.map(row)
		.join("");
}

const signed = (column: Column, value: number) =>
	`${value * column.scale > 0 ? "+" : ""}${number(column, value)}`;

export function differenceTables({ columns, differences }: Comparison): {
	readonly title: string;
	readonly header: readonly string[];
	readonly rows: readonly (readonly string[])[];
}[] {
	const header = headerOf(columns);
	const rowOf = ({ line, than }: Difference, values: readonly (Measure | undefined)[]) => [
		`${line} − ${than}`,
		...columns.map((column, index) => {
			const measure = values[index];
			if (!measure) return none;
			const { value, low, high } = measure;
			return `${signed(column, value)} [${signed(column, low)}, ${signed(column, high)}]`;
		}),
	];
	const tables = [
		{
			title:
				"Differences of means over seeds, paired over patients, with 95 % intervals over patients:",
			rows: differences.map((one) => rowOf(one, one.overPatients)),
		},
		{
			title: "The same differences paired by seed, with 95 % t-intervals over the seeds both have:",
			rows: differences
				.filter(({ seeds }) => seeds > 1)
				.map((one) => rowOf({ ...one, than: `${one.than} (${one.seeds} seeds)` }, one.overSeeds)),
		},
	];
	return tables.filter(({ rows }) => rows.length > 0).map((one) => ({ ...one, header }));
}

const csvHeader =
	"line group task setting metric value low high seeds seed_deviation minus interval".split(" ");

/** One row per number, for programs; `minus` names the subtracted line, `interval` what the interval is over. */
export function csv({ columns, lines, differences }: Comparison): string {
	type Row = Readonly<Record<string, string | number>>;
	const inColumns = (values: readonly (LineMeasure | undefined)[], names: Row): Row[] =>
		columns.flatMap(({ task, setting, method, metric }, index) => {
			const measure = values[index];
			if (!measure) return [];
			const { value, low, high, seedDeviation = "" } = measure;
			const measured = { value, low, high, seed_deviation: seedDeviation };
			return { ...names, task, setting: setting ?? method ?? "", metric, ...measured };
		});
	const measured = lines.flatMap(({ label: line, group, seeds, values, training }) => {
		const counted = ["parameters", "cpuSecondsPerEpoch", "peakBytes"] as const;
		const known = counted.filter(
			(metric) => training && (metric === "parameters" || isOnCpu(training)),
		);
		return [
			...inColumns(values, { line, group, seeds, interval: "patients" }),
			...known.map((metric) => {
				const value = training?.[metric] ?? "";
				return { line, group, task: "training", metric, value, seeds };
			}),
		];
	});
	const less = differences.flatMap(({ line, than: minus, overPatients, overSeeds, seeds }) => [
		...inColumns(overPatients, { line, minus, interval: "patients" }),
		...inColumns(overSeeds, { line, minus, seeds, interval: "seeds" }),
	]);
	const rows = [...measured, ...less].map((row: Row) => csvHeader.map((name) => row[name] ?? ""));
	return [csvHeader, ...rows].map(csvLine).join("");
}

const texSpecials: Readonly<Record<string, string>> = {
	...Object.fromEntries(["%", "&", "_", "#", "$", "{", "}"].map((c) => [c, `\\${c}`])),
	"\\": "\\textbackslash{}",
	"~": "\\textasciitilde{}",
	"^": "\\textasciicircum{}",
	"−": "$-$",
	"±": "$\\pm$",
	"—": "---",
	α: "$\\alpha$",
	β: "$\\beta$",
	γ: "$\\gamma$",
	δ: "$\\delta$",
	λ: "$\\lambda$",
	σ: "$\\sigma$",
	τ: "$\\tau$",
};
const tex = (text: string) =>
	Array.from(text, (character) => texSpecials[character] ?? character).join("");

/** The paper's layout: a rule before each group, the best bold, the second best underlined. */
export const latex = (comparison: Comparison): string =>
	partsOf(comparison).map(latexTable).join("\n");

function latexTable(comparison: Comparison): string {
	const { columns, lines } = comparison;
	const groups: { title: string; count: number }[] = [];
	for (const column of columns) {
		const last = groups.at(-1);
		if (last?.title === column.group) last.count++;
		else groups.push({ title: column.group, count: 1 });
	}
	const marks = { best: "\\textbf{", second: "\\underline{", none: "" } as const;
	const cells = markedCells(
		comparison,
		(text, column, measure, mark) =>
			`${marks[mark]}${tex(text)}${mark === "none" ? "" : "}"}\\,{\\scriptsize $\\pm$ ${half(column, measure)}}`,
		"---",
	);
	const body = lines.flatMap(({ label, group, training }, index) => {
		const rule = group !== lines[index - 1]?.group ? ["\\midrule"] : [];
		const parameters = training ? formatCount(training.parameters) : "---";
		return [...rule, `${[tex(label), ...cells[index], parameters].join(" & ")} \\\\`];
	});
	return `${[
		`\\begin{tabular}{l|${groups.map(({ count }) => "c".repeat(count)).join("|")}|r}`,
		"\\toprule",
		`Methods / Tasks & ${groups.map(({ title, count }) => `\\multicolumn{${count}}{c|}{\\textbf{${tex(title)}}}`).join(" & ")} & \\\\`,
		`& ${columns.map((column) => tex(titleOf(column))).join(" & ")} & parameters \\\\`,
		...body,
		"\\bottomrule",
		"\\end{tabular}",
	].join("\n")}\n`;
}
