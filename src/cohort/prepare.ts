import { InputError } from "../base/errors.js";
import type { RecordSource } from "../records/rows.js";
import type { Collected } from "./collect.js";
import { collect } from "./collect.js";
import type { DatasetColumns } from "./columns.js";
import type { DroppedCodes, Manifest } from "./manifest.js";
import { schemaVersion } from "./manifest.js";
import type { Selection } from "./select.js";
import { selectCohort } from "./select.js";
import type { Token, Vocabulary } from "./vocabulary.js";
import { vocabularyOf } from "./vocabulary.js";
import type { DatasetContent } from "./write-dataset.js";

export interface PrepareOptions {
	/** Fewest records a patient. */
	readonly minRecords: number;
	/** Fewest records a code, in the training split. */
	readonly minCount: number;
	readonly splitSeed: number;
	/** Days in one unit of the dataset's time axis. */
	readonly unitDays: number;
}

export const prepareDefaults: PrepareOptions = {
	minRecords: 2,
	minCount: 5,
	splitSeed: 0,
	unitDays: 30,
};

const unitNames = new Map([
	[1, "day"],
	[7, "week"],
	[30, "month"],
	[365.25, "year"],
]);

/** Records to a dataset, ready to be written. All that is learned from data comes from the training split. */
export async function prepare(
	source: RecordSource,
	options: PrepareOptions,
): Promise<DatasetContent> {
	const collected = await collect(source, options.splitSeed);
	const selection = selectCohort(collected, options.minRecords, options.minCount);
	const { vocabulary, tokenOf } = buildVocabulary(source, collected, selection);
	if (tokenOf.every((token) => token < 0)) throw emptyVocabulary(source, collected, options);
	const columns = buildColumns(collected, selection, tokenOf, options.unitDays);
	const notes = [...source.notes()];
	if (collected.lateBirths > 0)
		notes.push(
			`${collected.lateBirths} patients have a record before their birth date: birth taken as unknown`,
		);
	return {
		vocabulary,
		columns,
		manifest: {
			schemaVersion,
			source: { format: source.format, path: source.path, notes },
			timeUnit: {
				name: unitNames.get(options.unitDays) ?? `${options.unitDays} days`,
				days: options.unitDays,
			},
			filters: { minRecords: options.minRecords, minCount: options.minCount },
			splitSeed: options.splitSeed,
			counts: countAll(columns, vocabulary),
			dropped: countDropped(collected, selection),
		},
	};
}

function emptyVocabulary(source: RecordSource, { patients, code }: Collected, o: PrepareOptions) {
	return new InputError(
		`${source.path}: no code is left of ${code.length} records of ${patients.length} patients: none has ${o.minCount} records among training patients with at least ${o.minRecords} records; lower --min-count or --min-records, or bring more patients`,
	);
}

function buildVocabulary(source: RecordSource, { codes }: Collected, selection: Selection) {
	const kept = codes
		.map((seen, number) => ({ ...seen, number, count: selection.trainCount[number] as number }))
		.filter(({ number }) => selection.keptCodes[number])
		.sort((a, b) => b.count - a.count || compare(a.system, b.system) || compare(a.code, b.code));
	const tokens = kept.map(({ code, system, kind, count }): Token => {
		const named = source.nameOf(system, code);
		return {
			kind,
			code,
			system,
			name: named?.name ?? code,
			category: named?.category ?? null,
			count,
		};
	});
	const vocabulary = vocabularyOf(tokens);
	const tokenOf = new Int32Array(codes.length).fill(-1);
	for (const [at, { number }] of kept.entries())
		tokenOf[number] = vocabulary.size - kept.length + at;
	return { vocabulary, tokenOf };
}

/** By code unit: the same on every machine, whatever its language. */
function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

function buildColumns(
	{ patients, time, code }: Collected,
	{ keptPatients }: Selection,
	tokenOf: Int32Array,
	unitDays: number,
): DatasetColumns {
	const kept = patients.filter((_, at) => keptPatients[at]);
	const first = new Int32Array(kept.length);
	const count = new Int32Array(kept.length);
	const times = new Float64Array(time.length);
	const tokens = new Int32Array(time.length);
	let rows = 0;
	for (const [at, patient] of kept.entries()) {
		first[at] = rows;
		for (let row = patient.first; row < patient.first + patient.count; row++) {
			const token = tokenOf[code[row] as number] as number;
			if (token < 0) continue;
			times[rows] = (time[row] as number) / unitDays;
			tokens[rows] = token;
			rows++;
		}
		count[at] = rows - (first[at] as number);
	}
	return {
		patients: {
			id: kept.map(({ id }) => id),
			birth: kept.map(({ birth }) => (birth === null ? null : birth / unitDays)),
			sex: kept.map(({ sex }) => sex),
			split: kept.map(({ split }) => split),
			first,
			count,
		},
		events: { time: times.slice(0, rows), token: tokens.slice(0, rows) },
	};
}

function countAll(
	{ patients, events }: DatasetColumns,
	vocabulary: Vocabulary,
): Manifest["counts"] {
	const splits = { train: none(), valid: none(), test: none() };
	for (const [at, split] of patients.split.entries()) {
		splits[split].patients++;
		splits[split].events += patients.count[at] as number;
	}
	return {
		patients: patients.id.length,
		events: events.time.length,
		tokens: vocabulary.size,
		splits,
	};
}

const none = () => ({ patients: 0, events: 0 });

function countDropped(
	{ codes, patients, code }: Collected,
	{ keptPatients, keptCodes, trainCount }: Selection,
): Manifest["dropped"] {
	const gone = none();
	const lost = new Int32Array(codes.length);
	for (const [at, { first, count }] of patients.entries()) {
		if (!keptPatients[at]) {
			gone.patients++;
			gone.events += count;
			continue;
		}
		for (const number of code.subarray(first, first + count))
			if (!keptCodes[number]) lost[number] = (lost[number] as number) + 1;
	}
	const summary = (seenInTrain: boolean): DroppedCodes => {
		const these = codes
			.map((seen, at) => ({ code: seen.code, events: lost[at] as number, at }))
			.filter(({ events, at }) => events > 0 && (trainCount[at] as number) > 0 === seenInTrain)
			.sort((a, b) => b.events - a.events || compare(a.code, b.code));
		return {
			codes: these.length,
			events: these.reduce((sum, { events }) => sum + events, 0),
			top: these.slice(0, 100).map(({ code, events }) => ({ code, events })),
		};
	};
	return { patients: gone, rareCodes: summary(true), unknownCodes: summary(false) };
}
