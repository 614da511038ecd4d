import { join } from "node:path";
import { InputError } from "../base/errors.js";
import type { DatasetColumns } from "./columns.js";
import type { Split } from "./manifest.js";
import { splitNames } from "./manifest.js";
import type { Vocabulary } from "./vocabulary.js";
import { specialCount } from "./vocabulary.js";

/** Offsets, splits and owners must tell one story before anything is read by them. */
export function checkPatients(
	folder: string,
	{ patients, events }: DatasetColumns,
	owner: Int32Array,
) {
	const file = join(folder, "patients.parquet");
	let row = 0;
	for (const [patient, id] of patients.id.entries()) {
		const first = patients.first[patient] as number;
		const count = patients.count[patient] as number;
		const split = patients.split[patient] as Split;
		const sex = patients.sex[patient];
		if (!splitNames.includes(split))
			throw new InputError(
				`${file}: patient ${id} has split "${split}"; expected ${splitNames.join(", ")}; run prepare again`,
			);
		if (sex !== null && sex !== "female" && sex !== "male")
			throw new InputError(
				`${file}: patient ${id} has an unknown sex; expected female, male or none; run prepare again`,
			);
		if (first !== row || count < 1 || row + count > events.time.length)
			throw new InputError(
				`${file}: patient ${id} has rows ${first} to ${first + count}; expected them to start at ${row} and end by ${events.time.length}; run prepare again`,
			);
		for (; row < first + count; row++)
			if (owner[row] !== patient)
				throw new InputError(
					`${join(folder, "events.parquet")}: row ${row} belongs to patient number ${owner[row]}; expected ${patient} (${id}); run prepare again`,
				);
	}
	if (row !== events.time.length)
		throw new InputError(
			`${file}: the patients have ${row} rows of ${events.time.length}; run prepare again`,
		);
}

/** Tokens within the vocabulary, times finite and never decreasing, birth before all else. */
export function checkEvents(
	folder: string,
	{ patients, events }: DatasetColumns,
	vocabulary: Vocabulary,
) {
	const file = join(folder, "events.parquet");
	for (const [patient, id] of patients.id.entries()) {
		const first = patients.first[patient] as number;
		const end = first + (patients.count[patient] as number);
		let previous = patients.birth[patient] ?? Number.NEGATIVE_INFINITY;
		for (let row = first; row < end; row++) {
			const token = events.token[row] as number;
			const time = events.time[row] as number;
			if (token < specialCount || token >= vocabulary.size)
				throw new InputError(
					`${file}: row ${row} (patient ${id}) has token ${token}; expected ${specialCount} to ${vocabulary.size - 1}; run prepare again`,
				);
			if (!Number.isFinite(time) || time < previous)
				throw new InputError(
					`${file}: times must not decrease: patient ${id} goes ${previous} → ${time} at row ${row}; run prepare again`,
				);
			previous = time;
		}
	}
}
