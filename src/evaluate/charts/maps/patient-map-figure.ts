import { dot, frame } from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { type Figure, legendPanel } from "../figure.js";
import { counted, percent } from "../numbers.js";
import type { Point } from "../placement.js";
import { theme } from "../theme.js";
import { mapFrame } from "./map-frame.js";

interface MappedPatient extends Point {
	/** The label; null if there is none. */
	readonly positive: boolean | null;
}

export interface PatientMap {
	readonly patients: readonly MappedPatient[];
	/** Codes, drawn faintly in the background. */
	readonly tokens?: readonly Point[];
	readonly task: string;
	readonly title?: string;
	/** Names of the classes. */
	readonly names?: { readonly positive: string; readonly negative: string };
}

const height = 560;
const [few, crowd] = [100, 1500];

/** A map of patient representations, by label. */
export function patientMapFigure({
	patients,
	tokens = [],
	task,
	title = `Map of the patients: ${task}`,
	names = { positive: "positive", negative: "negative" },
}: PatientMap): Figure {
	const r = patients.length > crowd ? 2.4 : patients.length > few ? 3.4 : 5;
	const classes = [
		{
			name: "no label",
			of: patients.filter(({ positive }) => positive === null),
			style: { symbol: "circle", fill: theme.neutral, fillOpacity: 0.6 },
			r: 0.7 * r,
		},
		{
			name: names.negative,
			of: patients.filter(({ positive }) => positive === false),
			style: { symbol: "circle", fill: theme.background, stroke: theme.accent, strokeWidth: 1.1 },
			r,
		},
		{
			name: names.positive,
			of: patients.filter(({ positive }) => positive === true),
			style: { symbol: "triangle", fill: theme.strong, stroke: theme.background, strokeWidth: 0.6 },
			r: r + 0.8,
		},
	] as const;
	const [unlabelled, negative, positive] = classes;
	const labelled = negative.of.length + positive.of.length;
	const share = labelled > 0 ? percent(positive.of.length / labelled) : "none";
	const counts = `${thousands(positive.of.length)} of ${counted(labelled, "labelled patient")} ${
		positive.of.length === 1 ? "is" : "are"
	} positive`;
	const background = { symbol: "plus", stroke: theme.neutral, strokeWidth: 1 } as const;
	const legend = [
		...classes
			.toReversed()
			.flatMap(({ name, of, style }) =>
				of.length > 0 || name !== "no label" ? [{ name, says: thousands(of.length), style }] : [],
			),
		...(tokens.length > 0
			? [{ name: "codes", says: thousands(tokens.length), style: background }]
			: []),
	];
	return {
		title,
		subtitle: `${counted(patients.length, "patient")} · ${labelled > 0 ? `${share} of ${thousands(labelled)} labelled ones positive` : "none labelled"}`,
		description: `A map (UMAP) of the representations of ${counted(patients.length, "patient")} for the task ${task}. ${
			labelled > 0 ? `${counts} (${share}), drawn as triangles.` : "No patient is labelled."
		}${unlabelled.of.length > 0 && labelled > 0 ? ` ${thousands(unlabelled.of.length)} have no label.` : ""}`,
		rows: [
			[
				{
					title: "Representations of the patients",
					subtitle: "each mark is a patient; patients that lie together look alike to the model",
					height,
					plot: (width) => {
						const map = mapFrame([...patients, ...tokens], width, height);
						const position = { x: "x", y: "y" } as const;
						return {
							...map.options,
							marks: [
								frame({ stroke: theme.grid }),
								dot(tokens, { ...position, r: 2.5, ...background }),
								...classes.map(({ of, style, r }) => dot(of, { ...position, r, ...style })),
							],
						};
					},
				},
				legendPanel(legend, { title: "Patients", subtitle: task, share: 0.28 }),
			],
		],
		notes: [
			"UMAP keeps neighbours together; distances between far groups, and the axes, say little.",
		],
	};
}
