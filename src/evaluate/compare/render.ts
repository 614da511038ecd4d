import { formatCount } from "../../base/progress.js";
import { csvLine, table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import type { Measure } from "../evaluation.js";
import type { Column } from "./cells.js";
import * as compared from "./comparison.js";

const none = "—";

const number = ({ scale, digits }: Column, value: number) =>
	(value * scale).toFixed(digits).replace("-", "−");

const signed = (column: Column, value: number) =>
	`${value * column.scale > 0 ? "+" : ""}${number(column, value)}`;

/** Half the width of the interval, written after ±. */
const half = ({ scale, digits }: Column, { low, high }: Measure) =>
	(((high - low) / 2) * scale).toFixed(digits);

const titleOf = ({ title, scale }: Column) => `${title}${scale === 100 ? ", %" : ""}`;

const headerOf = (columns: readonly Column[]) => [
	"",
	...columns.map((column) => `${column.group} ${titleOf(column)}`),
];

/** What is known of trained lines beside their values. */
const extras: readonly { title: string; of: (line: compared.Line) => string | undefined }[] = [
	{ title: "seeds", of: ({ seeds }) => (seeds > 0 ? String(seeds) : undefined) },
	{ title: "parameters", of: ({ training }) => training && formatCount(training.parameters) },
	{
		title: "CPU s/epoch",
		of: ({ training }) =>
			training && compared.isOnCpu(training) ? training.cpuSecondsPerEpoch.toFixed(1) : undefined,
	},
	{
		title: "GPU s",
		of: ({ training }) =>
			training && !compared.isOnCpu(training) ? training.seconds?.toFixed(0) : undefined,
	},
	{
		title: "peak MiB",
		of: ({ training }) =>
			training && compared.isOnCpu(training)
				? thousands(Math.round(training.peakBytes / 2 ** 20))
				: undefined,
	},
];

/** Those that some line has. Not repeated in the part of the table that has known and new codes apart. */
const extrasOf = ({ columns, lines }: compared.Comparison) =>
	columns.some(({ novelty }) => novelty === undefined)
		? extras.filter(({ of }) => lines.some((line) => of(line) !== undefined))
		: [];

type Mark = "best" | "second" | "other";
type WriteValue = (
	text: string,
	column: Column,
	measure: compared.LineMeasure,
	mark: Mark,
) => string;

/** The label, the values and the extras of every line; the best and second-best trained line of a column are marked. */
function rowsOf(comparison: compared.Comparison, write: WriteValue, missing = none): string[][] {
	const marked = compared.bestOfColumns(comparison);
	const more = extrasOf(comparison);
	return comparison.lines.map((line, index) => [
		line.label,
		...comparison.columns.map((column, i) => {
			const measure = line.values[i];
			if (!measure) return missing;
			const { best, second } = marked[i];
			const mark = index === best ? "best" : index === second ? "second" : "other";
			return write(number(column, measure.value), column, measure, mark);
		}),
		...more.map(({ of }) => of(line) ?? missing),
	]);
}

/** The texts of adjacent columns with the same group, and how many columns have them. */
function groupsOf(columns: readonly Column[]) {
	const groups: { title: string; count: number }[] = [];
	for (const { group } of columns) {
		const last = groups.at(-1);
		if (last?.title === group) last.count++;
		else groups.push({ title: group, count: 1 });
	}
	return groups;
}

const differencesTitle =
	"Differences of means over seeds, paired over patients, with 95 % intervals over patients and seeds:";

function differenceTable({ columns, differences }: compared.Comparison) {
	const rows = differences.map(({ line, than, values, verdicts }) => [
		`${line} − ${than}`,
		...columns.map((column, index) => {
			const measure = values[index];
			if (!measure) return none;
			const { value, low, high } = measure;
			const interval = `${signed(column, value)} [${signed(column, low)}, ${signed(column, high)}]`;
			return [interval, verdicts[index] ?? []].flat().join(" ");
		}),
	]);
	return { header: headerOf(columns), rows };
}

interface Format {
	readonly legend: string;
	/** What a note begins with. */
	readonly bullet: string;
	lines(part: compared.Comparison): string;
	table(header: readonly string[], rows: readonly (readonly string[])[]): string;
}

/** The lines in parts, then their differences, then the notes. */
function written(comparison: compared.Comparison, format: Format): string {
	const parts = compared.partsOf(comparison);
	const failures = comparison.failed.map(({ label, reason }) => `${label} failed: ${reason}`);
	return [
		parts.map(format.lines).join("\n"),
		`\n${format.legend}\n`,
		...parts
			.map(differenceTable)
			.filter(({ rows }) => rows.length > 0)
			.map(({ header, rows }) => `\n${differencesTitle}\n\n${format.table(header, rows)}`),
		"\n",
		...[...comparison.notes, ...failures].map((note) => `${format.bullet}${note}\n`),
	].join("");
}

/** For the terminal. */
export const comparisonText = (comparison: compared.Comparison): string =>
	written(comparison, {
		legend:
			"±: half the width of the 95 % interval over patients and seeds; the files have both ends.",
		bullet: "",
		table,
		lines(part) {
			const more = extrasOf(part).map(({ title }) => title);
			const groups = groupsOf(part.columns).flatMap(({ title, count }) => [
				title,
				...Array<string>(count - 1).fill(""),
			]);
			const write: WriteValue = (text, column, measure) => `${text} ±${half(column, measure)}`;
			return table(
				["", ...groups, ...more.map(() => "")],
				[["", ...part.columns.map(titleOf), ...more], ...rowsOf(part, write)],
			);
		},
	});

const markdownTable: Format["table"] = (header, rows) =>
	[header, header.map((_, index) => (index === 0 ? "---" : "---:")), ...rows]
		.map((texts) => `| ${texts.join(" | ")} |\n`)
		.join("");

const markdown = (comparison: compared.Comparison): string =>
	written(comparison, {
		legend:
			"Bold: best of the trained models; underlined: second. In brackets: 95 % intervals over patients and seeds; sd: standard deviation over seeds.",
		bullet: "- ",
		table: markdownTable,
		lines(part) {
			const marks = { best: ["**", "**"], second: ["<u>", "</u>"], other: ["", ""] } as const;
			const write: WriteValue = (text, column, { low, high, seedDeviation }, mark) => {
				const [open, close] = marks[mark];
				const deviation =
					seedDeviation === undefined ? "" : ` (sd ${number(column, seedDeviation)})`;
				return `${open}${text}${close} [${number(column, low)}, ${number(column, high)}]${deviation}`;
			};
			const more = extrasOf(part).map(({ title }) => title);
			return markdownTable([...headerOf(part.columns), ...more], rowsOf(part, write));
		},
	});

const csvHeader =
	"line group task setting metric value low high seeds seed_deviation minus verdict".split(" ");

/** One row per number, for programs; `minus` names the subtracted line. */
function csv({ columns, lines, differences }: compared.Comparison): string {
	type Row = Readonly<Record<string, string | number>>;
	const inColumns = (
		values: readonly (compared.LineMeasure | undefined)[],
		names: Row,
		verdicts: compared.Difference["verdicts"] = [],
	): Row[] =>
		columns.flatMap(({ task, setting, method, metric }, index) => {
			const measure = values[index];
			if (!measure) return [];
			const { value, low, high, seedDeviation = "" } = measure;
			const measured = { value, low, high, seed_deviation: seedDeviation };
			const verdict = verdicts[index] ?? "";
			return { ...names, task, setting: setting ?? method ?? "", metric, ...measured, verdict };
		});
	const ofLines = lines.flatMap(({ label: line, group, seeds, values, training }) => {
		const onCpu = ["cpuSecondsPerEpoch", "peakBytes"] as const;
		const known = training
			? (["parameters", ...(compared.isOnCpu(training) ? onCpu : [])] as const)
			: [];
		return [
			...inColumns(values, { line, group, seeds }),
			...known.map((metric) => {
				const value = training?.[metric] ?? "";
				return { line, group, task: "training", metric, value, seeds };
			}),
		];
	});
	const ofDifferences = differences.flatMap(({ line, than: minus, values, verdicts }) =>
		inColumns(values, { line, minus }, verdicts),
	);
	const rows = [...ofLines, ...ofDifferences].map((row: Row) =>
		csvHeader.map((name) => row[name] ?? ""),
	);
	return [csvHeader, ...rows].map(csvLine).join("");
}

const texSpecials: Readonly<Record<string, string>> = {
	...Object.fromEntries(Array.from("%&_#{}$", (character) => [character, `\\${character}`])),
	"\\": "\\textbackslash{}",
	"~": "\\textasciitilde{}",
	"^": "\\textasciicircum{}",
	"−": "$-$",
	"±": "$\\pm$",
	[none]: "---",
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
function latexTable(comparison: compared.Comparison): string {
	const { columns, lines } = comparison;
	const groups = groupsOf(columns);
	const marks = { best: "\\textbf{", second: "\\underline{", other: "" } as const;
	const rows = rowsOf(
		comparison,
		(text, column, measure, mark) =>
			`${marks[mark]}${tex(text)}${mark === "other" ? "" : "}"}\\,{\\scriptsize $\\pm$ ${half(column, measure)}}`,
		tex(none),
	);
	const body = lines.flatMap(({ label, group, training }, index) => {
		const rule = group !== lines[index - 1]?.group ? ["\\midrule"] : [];
		const values = rows[index].slice(1, 1 + columns.length);
		const parameters = training ? formatCount(training.parameters) : tex(none);
		return [...rule, `${[tex(label), ...values, parameters].join(" & ")} \\\\`];
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

/** The files of a comparison, by extension. */
export const comparisonFormats: Readonly<
	Record<string, (comparison: compared.Comparison) => string>
> = {
	json: (comparison) => `${JSON.stringify(comparison, null, 2)}\n`,
	csv,
	md: markdown,
	tex: (comparison) => compared.partsOf(comparison).map(latexTable).join("\n"),
};
