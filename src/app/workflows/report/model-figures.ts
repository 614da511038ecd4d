import { evenlySpread, takenOf } from "../../../base/arrays.js";
import { thousands } from "../../../base/thousands.js";
import type { DatasetSummary } from "../../../data/cohort/index.js";
import {
	decayFigure,
	extremeHeads,
	patientMapFigure,
	tokenMapFigure,
} from "../../../evaluate/charts/index.js";
import { headMemory } from "../../../predict/index.js";
import { patientMap, tokenMap } from "../maps.js";
import { type ReportRequest, reportedSplit } from "./request.js";

/** The map of the codes. */
export function drawCodes({ trained, drawings, seed, onStage }: ReportRequest) {
	onStage("drawing the codes");
	const { map } = tokenMap(trained, { seed });
	return drawings.draw(
		"codes",
		tokenMapFigure(map),
		"Each mark is a code, placed by what training has changed in its embedding, without the change that all codes share. A cross is the decay vector of a head of the first layer, near the codes after which that head remembers longest.",
	);
}

/** The map of the test patients, and whether neighbours are alike. */
export async function drawPatients(
	{ runtime, trained, dataset, drawings, seed, onStage }: ReportRequest,
	summary: DatasetSummary,
) {
	onStage("drawing the patients");
	const { map, of, agreement } = await patientMap(
		runtime,
		trained,
		dataset,
		summary,
		reportedSplit,
		{
			seed,
		},
	);
	const caption = patientCaption(map.patients.length, of, summary.labels.length > 0);
	return { drawing: await drawings.draw("patients", patientMapFigure(map), caption), agreement };
}

/** The caption of a map that shows some of the test patients, or all. */
export function patientCaption(shown: number, of: number, hasLabels: boolean): string {
	const mark =
		shown < of
			? `Each mark is one of ${thousands(shown)} test patients, drawn at random from ${thousands(of)},`
			: "Each mark is a test patient,";
	return hasLabels
		? `${mark} represented by the history up to the time of the label. Where triangles gather, the model distinguishes cases without having been shown a label.`
		: `${mark} represented by the history up to the last record.`;
}

/** Test patients whose records the half-lives are averaged over, at most. */
const mostRemembered = 5000;

/** The half-lives of the heads; undefined if the model has none. */
export async function drawMemory({ runtime, trained, dataset, drawings, onStage }: ReportRequest) {
	onStage("measuring memory");
	if (!trained.model.decay) return undefined;
	const patients = dataset.patients(reportedSplit);
	const histories = [];
	for (const patient of evenlySpread(patients, mostRemembered))
		histories.push(await dataset.read(patient));
	const memory = await headMemory(runtime, trained, histories);
	if (memory.heads.length === 0) return undefined;
	const drawing = await drawings.draw(
		"memory",
		decayFigure(memory),
		`The half-life of each head by the category of the last code, averaged over the records of ${patients.length > mostRemembered ? `${takenOf(patients.length, mostRemembered)} ` : "the "}test patients.`,
	);
	const [shortest, longest] = extremeHeads(memory.heads);
	return { drawing, words: { shortest, longest, unit: memory.unit } };
}
