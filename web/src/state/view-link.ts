import type { Patient } from "../data/patient.js";
import { dateRange } from "./date-range.js";
import { editsText } from "./linked-edits.js";
import type { ExplorerState, View } from "./reducer.js";
import { horizons, views } from "./reducer.js";

/** The content of a link: view, sample with date and edits, codes. Nothing about a patient from a file. */
export interface ViewLink {
	readonly view: View;
	readonly sample: string | null;
	readonly date: number | null;
	readonly codes: readonly string[];
	readonly horizonYears: number | null;
	readonly zoom: readonly [number, number] | null;
	/** As `editsText` writes them; empty if there are none. */
	readonly edits: string;
}

const decimals = 2;
const rounded = (time: number) => `${Number(time.toFixed(decimals))}`;

/** The part of a link after its #. Codes are written as in the vocabulary. */
export function linkTo(
	{ view, patient, date, codes, horizonYears, zoom, edits }: ExplorerState,
	codeOf: (token: number) => string | undefined,
): string {
	const values = new URLSearchParams();
	// Dates and edits only make sense with their sample, and those of a patient from a file are private.
	if (patient?.sample) {
		values.set("sample", patient.sample);
		values.set("at", rounded(date));
		if (zoom) values.set("zoom", zoom.map(rounded).join(" "));
		const changes = editsText(edits, codeOf, rounded);
		if (changes) values.set("edits", changes);
	}
	// What is followed of a patient from a file may come from the records.
	const followed = patient && !patient.sample ? [] : codes;
	const named = followed.map(codeOf).filter((code) => code !== undefined);
	if (named.length > 0) values.set("codes", named.join(" "));
	values.set("years", `${horizonYears}`);
	return `#${view}?${values}`;
}

const numberIn = (text: string | null | undefined): number | null => {
	const value = text ? Number(text) : Number.NaN;
	return Number.isFinite(value) ? value : null;
};

export const viewNamed = (name: string): View | null => views.find((view) => view === name) ?? null;

/** The same link with another view. */
export const withView = (hash: string, view: View): string =>
	hash.replace(/^#?[^?]*/, () => `#${view}`);

/** Whether a link names a view. */
export const namesView = (hash: string): boolean =>
	views.some((view) => hash === `#${view}` || hash.startsWith(`#${view}?`));

/** Parses a link; missing and malformed fields are null. */
export function readLink(hash: string): ViewLink {
	const [, name = "", query = ""] = /^#?([^?]*)\??(.*)$/s.exec(hash) ?? [];
	const values = new URLSearchParams(query);
	const [from, to] = (values.get("zoom") ?? "").split(" ").map(numberIn);
	const years = numberIn(values.get("years"));
	return {
		view: viewNamed(name) ?? "patient",
		sample: values.get("sample"),
		date: numberIn(values.get("at")),
		codes: (values.get("codes") ?? "").split(" ").filter(Boolean),
		horizonYears: horizons.find((one) => one === years) ?? null,
		edits: values.get("edits") ?? "",
		zoom: from != null && to != null && from < to ? [from, to] : null,
	};
}

/** The date of a link, if it lies in the slider's range up to rounding. */
export function dateWithin(
	date: number | null,
	patient: Pick<Patient, "birth" | "events">,
): number | null {
	const [first, last] = dateRange(patient);
	const lost = 10 ** -decimals;
	if (date === null || date < first - lost || date > last + lost) return null;
	return Math.max(first, Math.min(last, date));
}

/** The full link to the current view, and a confirmation. `hash` is null until the page has loaded. */
export function copiedLink(
	href: string,
	hash: string | null,
	patient: Pick<Patient, "sample"> | null,
): { readonly link: string; readonly words: string } {
	return {
		link: hash === null ? href : new URL(hash, href).href,
		words: patient?.sample === null ? "Link copied, without the patient" : "Link copied",
	};
}
