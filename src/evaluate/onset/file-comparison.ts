import { listUnder } from "../../base/arrays.js";
import { InputError } from "../../base/errors.js";
import { isoDate } from "../../base/time.js";
import { specialCount, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { measured } from "../bootstrap.js";
import type { FileComparison } from "../evaluation.js";
import * as files from "../prediction-file.js";
import type { MeasuredHorizon } from "./measured-horizon.js";
import { measureOnsetRows } from "./results.js";
import * as studies from "./study.js";

/** What a file predicts, on the codes and within the years that it predicts. */
export interface FilePredictions {
	readonly study: studies.OnsetStudy;
	readonly row: studies.Predictions;
	readonly notes: readonly string[];
}

/** Finds the token of a code in a file; a text says why there is none. */
function tokenFinder({ tokens }: Vocabulary) {
	const tokensOf = new Map<string, number[]>();
	for (let token = specialCount; token < tokens.length; token++)
		listUnder(tokensOf, tokens[token].code, token);
	return (code: string, system: string | null): number | string => {
		const isOfSystem = (token: number) =>
			system === null || tokens[token].system?.toLowerCase() === system.toLowerCase();
		const matches = (tokensOf.get(code) ?? []).filter(isOfSystem);
		if (matches.length === 1) return matches[0];
		const name = system === null ? `code ${code}` : `code ${code} of system ${system}`;
		return matches.length === 0
			? `has ${name}, which is not in the vocabulary; \`trajgpt describe\` lists its codes`
			: `has ${name}, which several systems have (${matches.map((token) => tokens[token].system).join(", ")}); add a column system`;
	};
}

const yearsText = (years: number) => `${years} ${years === 1 ? "year" : "years"}`;
const patientsText = (count: number) => `${count} ${count === 1 ? "patient" : "patients"}`;

const expectedColumns =
	"expected columns patient, code, horizon_days or horizon_years, and probability";

/** Reads the predictions of a file into a row: by horizon of the study, [patients, vocab]; NaN where there is none. */
async function readRisks(study: studies.OnsetStudy, file: string) {
	const { dataset, options, cohort, horizons } = study;
	const { vocabulary, manifest } = dataset;
	const { axis } = manifest.source;
	const { size } = vocabulary;
	const tokenOf = tokenFinder(vocabulary);
	const indexOf = new Map(cohort.patients.map(({ history }, index) => [history.id, index]));
	const risks = horizons.map(() =>
		new Float32Array(cohort.patients.length * size).fill(Number.NaN),
	);
	const horizonOf = new Map(horizons.map((years, index) => [studies.daysOf(years), index]));
	const horizonText = horizons
		.map((years) => `${studies.daysOf(years)} days (${yearsText(years)})`)
		.join(", ");
	const dayText = (day: number) => (axis === "dates" ? isoDate(day) : `day ${Math.floor(day)}`);
	const unused = new Set<string>();
	await files.readPredictionFile(file, dataset, options, (prediction) => {
		const { patient, time, code, system, horizonDays, probability } = prediction;
		if (code === null) return `names no code; ${expectedColumns}`;
		if (horizonDays === null) return `has no horizon; ${expectedColumns}`;
		const token = tokenOf(code, system);
		if (typeof token === "string") return token;
		const horizon = horizonOf.get(horizonDays);
		if (horizon === undefined)
			return `has a horizon of ${horizonDays} days, which is not evaluated; expected ${horizonText}, or other \`horizons\``;
		const index = indexOf.get(patient);
		if (index === undefined) {
			unused.add(patient);
			return undefined;
		}
		const { day } = cohort.patients[index];
		if (time !== null && Math.floor(time) !== day)
			return `predicts from ${dayText(time)}, and the index day of patient "${patient}" is ${dayText(day)}; predict from there, or choose another \`index\``;
		const cell = index * size + token;
		if (!Number.isNaN(risks[horizon][cell]))
			return `predicts the same again for patient "${patient}", code ${code} and ${horizonDays} days; keep one of the two`;
		risks[horizon][cell] = probability;
		return undefined;
	});
	return { risks, unused: unused.size };
}

/** The tokens that a file predicts within each horizon. */
function predictedTokens(risks: readonly Float32Array[], vocab: number): Set<number>[] {
	return risks.map((values) => {
		const tokens = new Set<number>();
		for (const [cell, risk] of values.entries()) if (!Number.isNaN(risk)) tokens.add(cell % vocab);
		return tokens;
	});
}

/** Refuses a file that lacks a patient who is at risk of a code that it predicts. */
function refuseGaps(
	{ dataset, cohort, codes, horizons }: studies.OnsetStudy,
	file: string,
	risks: readonly Float32Array[],
	predicted: readonly ReadonlySet<number>[],
): void {
	const { size, tokens } = dataset.vocabulary;
	let missing = 0;
	let example = "";
	for (const [horizon, values] of risks.entries())
		for (const { token, patient } of codes)
			if (predicted[horizon].has(token))
				for (const index of patient) {
					if (!Number.isNaN(values[index * size + token])) continue;
					missing++;
					example ||= `patient "${cohort.patients[index].history.id}", code ${tokens[token].code}, ${studies.daysOf(horizons[horizon])} days`;
				}
	if (missing === 0) return;
	throw new InputError(
		`${file} lacks ${missing} ${missing === 1 ? "prediction" : "predictions"}, such as that of ${example}; every code in it needs everybody who did not have it on the index day: add them, or leave the code out`,
		{ field: "compare", value: file },
	);
}

/** Reads a file of predictions and checks it against the study. */
export async function readFilePredictions(
	study: studies.OnsetStudy,
	file: string,
): Promise<FilePredictions> {
	const { dataset, codes, horizons } = study;
	const { risks, unused } = await readRisks(study, file);
	const predicted = predictedTokens(risks, dataset.vocabulary.size);
	refuseGaps(study, file, risks, predicted);
	const all = new Set(predicted.flatMap((tokens) => [...tokens]));
	const ofFile = codes.filter(({ token }) => all.has(token));
	const frequentAt = (horizon: number) =>
		studies.measuredCodes(codes, studies.daysOf(horizons[horizon]));
	const isPredicted =
		(horizon: number) =>
		({ token }: studies.CodeFollowUp) =>
			predicted[horizon].has(token);
	const kept = [...horizons.keys()].filter((horizon) =>
		frequentAt(horizon).some(isPredicted(horizon)),
	);
	if (kept.length === 0)
		throw new InputError(
			`${file}: none of its ${all.size} codes has ${studies.frequentOnsets} expected onsets among these patients; evaluate more patients, or predict more frequent codes`,
			{ field: "compare", value: file },
		);
	const label = files.rowLabelOf(file);
	const notes = kept.flatMap((horizon) => {
		const frequent = frequentAt(horizon);
		const covered = frequent.filter(isPredicted(horizon)).length;
		return covered === frequent.length
			? []
			: [
					`${label} has ${covered} of the ${frequent.length} frequent codes within ${yearsText(horizons[horizon])}: all rows are compared on these`,
				];
	});
	const left = horizons.filter((_, horizon) => !kept.includes(horizon));
	if (left.length > 0)
		notes.push(
			`${label} has no frequent code within ${left.map(yearsText).join(" and ")}: not compared there`,
		);
	if (unused > 0)
		notes.push(
			`${label} has predictions of ${patientsText(unused)} without an index day, or outside the sample, which are not used`,
		);
	return {
		study: { ...study, codes: ofFile, horizons: kept.map((horizon) => horizons[horizon]) },
		row: { name: { who: "file", label }, risks: kept.map((horizon) => risks[horizon]) },
		notes,
	};
}

const countsOf = ({ years, frequent, rare }: MeasuredHorizon) => ({
	years,
	codes: frequent.length,
	allCodes: frequent.length + rare.length,
});

/** Measures the model, a file and the baselines on what the file predicts; `horizons` are those of the rows. */
export async function compareWithFile(
	{ study, row, notes }: FilePredictions,
	{
		horizons,
		modelRows,
		baselines,
	}: {
		readonly horizons: readonly number[];
		readonly modelRows: readonly studies.Predictions[];
		readonly baselines: readonly studies.Predictions[];
	},
): Promise<FileComparison> {
	const atHorizons = ({ name, risks }: studies.Predictions): studies.Predictions => ({
		name,
		risks: study.horizons.map((years) => risks[horizons.indexOf(years)]),
	});
	const rows = [...modelRows.map(atHorizons), row, ...baselines.map(atHorizons)];
	files.refuseSameLabels(rows.map(({ name }) => name.label));
	const { measuredHorizons, patientRows } = await measureOnsetRows(study, rows);
	const { rows: measuredRows, differences = [] } = measured("onset", study.options, patientRows, {
		patients: study.cohort.patients.length,
		events: 0,
		notes: [],
	});
	return {
		label: row.name.label,
		horizons: measuredHorizons.map(countsOf),
		notes: [...notes],
		rows: measuredRows,
		differences: differences.filter(({ than }) => than === row.name.label),
	};
}
