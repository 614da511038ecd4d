import { InputError } from "../../base/errors.js";
import { type BadRows, counted } from "../records/bad-rows.js";
import type { RecordSource } from "../records/rows.js";
import type { Manifest } from "./manifest.js";
import type { PrepareOptions } from "./prepare.js";
import type { checkWrittenEvents } from "./written-events.js";

/** Says how many rows were left out as unreadable, and what is wrong with the first. */
export const badRowNotes = ({ count, first }: BadRows): string[] =>
	count === 0
		? []
		: [
				`${count} ${count === 1 ? "row" : "rows"} that cannot be read: left out`,
				...first.map((one) => `left out: ${one}`),
			];

/** Warns if fewer than half of the diagnoses are in the map, and names the most frequent of the others. */
export function mappedWarnings({ map, mapped, unmapped }: Manifest["codes"]): string[] {
	const all = mapped + unmapped.events;
	if (map === null || 2 * mapped >= all) return [];
	const top = unmapped.top
		.slice(0, 10)
		.map(({ code, system, events }) => `${system} ${code} (${events})`);
	return [
		`only ${mapped} of ${all} diagnoses have a PheCode in ${map}; the most frequent without one: ${top.join(", ")}; check the code system of the source, or set \`codes\` to as-is`,
	];
}

/** Says how many records of drugs are no events, and how they become some. */
export function drugNotes(
	drugs: number,
	{ drugs: use, like }: Pick<PrepareOptions, "drugs" | "like">,
): string[] {
	if (drugs === 0) return [];
	const records = counted(drugs, "record is of a drug", "records are of drugs");
	const used = use === "labels" ? "used for labels only" : "left out";
	const remedy = like
		? "the model has no drugs"
		: "set `drugs` to tokens to have them among the events";
	return [`${records}: ${used}; ${remedy}`];
}

export const nobodyKnown = ({ path }: RecordSource, { minRecords, like }: PrepareOptions) =>
	new InputError(
		`${path}: no patient has ${minRecords} records of the ${like?.vocabulary.size} codes of the run; check that the codes are of the same classification, and name it with \`system\``,
		{ field: "like" },
	);

export function emptyVocabulary(
	source: RecordSource,
	records: number,
	drugs: number,
	o: PrepareOptions,
) {
	return new InputError(
		`${source.path}: no code of ${records} records is left: none has ${o.minCount} records among training patients with at least ${o.minRecords} records; lower \`minCount\` or \`minRecords\`, add patients, or set \`codes\` to as-is to see whether the codes could not be mapped${drugNotes(drugs, o).map((note) => `; ${note}`)}`,
	);
}

/** What the check of the written events found. */
export function writtenNotes(
	{ outside, outOfOrder, repeated, repeatedInDay }: Awaited<ReturnType<typeof checkWrittenEvents>>,
	dedup: PrepareOptions["dedup"],
): string[] {
	const more = repeatedInDay - repeated;
	const dropped = `; --dedup day drops them${more > 0 ? `, and ${more} that repeat a code at another time of the same day` : ""}`;
	return [
		...(outside > 0
			? [`${outside} records lie outside the observation of their patient: kept`]
			: []),
		...(outOfOrder > 0
			? [
					`${outOfOrder} events come before an earlier one of the same patient: sorted by time, ties in the order of the source`,
				]
			: []),
		...(repeated > 0
			? [
					`${repeated} events repeat another of the same patient, time and code: kept${dedup === "none" ? dropped : ""}`,
				]
			: []),
	];
}
