import type { Patient } from "../data/patient.js";
import { dateRange } from "./date-range.js";
import type { ExplorerState, View } from "./reducer.js";
import { horizons, views } from "./reducer.js";

/** What a link holds: how to look, and at which sample. Nothing of a patient from a file, no event, no edit. */
export interface ViewLink {
	readonly view: View;
	readonly sample: string | null;
	readonly date: number | null;
	readonly codes: readonly string[];
	readonly horizonYears: number | null;
	readonly zoom: readonly [number, number] | null;
}

const decimals = 2;
const rounded = (time: number) => `${Number(time.toFixed(decimals))}`;

/** The part of an address after its #. Codes are told as the vocabulary writes them. */
export function linkTo(
	{ view, patient, date, codes, horizonYears, zoom }: ExplorerState,
	codeOf: (token: number) => string | undefined,
): string {
	const values = new URLSearchParams();
	// Dates mean nothing without their patient, and those of a patient from a file are nobody's business.
	if (patient?.sample) {
		values.set("sample", patient.sample);
		values.set("at", rounded(date));
		if (zoom) values.set("zoom", zoom.map(rounded).join(" "));
	}
	const named = codes.map(codeOf).filter((code) => code !== undefined);
	if (named.length > 0) values.set("codes", named.join(" "));
	values.set("years", `${horizonYears}`);
	return `#${view}?${values}`;
}

const numberIn = (text: string | null | undefined): number | null => {
	const value = text ? Number(text) : Number.NaN;
	return Number.isFinite(value) ? value : null;
};

export const viewNamed = (name: string): View | null => views.find((view) => view === name) ?? null;

/** An address as it is, but of another view. */
export const withView = (hash: string, view: View): string =>
	hash.replace(/^#?[^?]*/, () => `#${view}`);

/** Whether an address is one of these. */
export const namesView = (hash: string): boolean =>
	views.some((view) => hash === `#${view}` || hash.startsWith(`#${view}?`));

/** What an address says; what it does not say, or says badly, is null. */
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
		zoom: from != null && to != null && from < to ? [from, to] : null,
	};
}

/** A linked date, if it lies where the slider reaches, but for what was lost as it was rounded. */
export function dateWithin(
	date: number | null,
	patient: Pick<Patient, "birth" | "events">,
): number | null {
	const [first, last] = dateRange(patient);
	const lost = 10 ** -decimals;
	if (date === null || date < first - lost || date > last + lost) return null;
	return Math.max(first, Math.min(last, date));
}

/** The whole link to what is looked at, and what to say of it. `hash` is null while it is not known yet. */
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
