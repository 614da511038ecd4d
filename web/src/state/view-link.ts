import { specialCount, type Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { dateRange, initialDate, type Patient } from "../data/patient.js";
import { editsIn, editsText } from "./edits.js";
import { type Action, type ExplorerState, type View, views } from "./reducer.js";

const decimals = 2;
const rounded = (time: number) => `${Number(time.toFixed(decimals))}`;

/** The part of a link after its #. Codes are written as in the vocabulary. */
export function linkTo(
	{ view, patient, date, codes, zoom, edits }: ExplorerState,
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
	return values.size > 0 ? `#${view}?${values}` : `#${view}`;
}

const numberIn = (text: string | null | undefined): number | null => {
	const value = text ? Number(text) : Number.NaN;
	return Number.isFinite(value) ? value : null;
};

export const viewNamed = (name: string): View | null => views.find((view) => view === name) ?? null;

/** The same link with another view. */
export const withView = (hash: string, view: View): string =>
	hash.replace(/^#?[^?]*/, () => `#${view}`);

/** Whether an address is a link: it names a view, or has fields, as do links to views of earlier versions. */
export const isLink = (hash: string): boolean =>
	hash.includes("?") || viewNamed(hash.replace("#", "")) !== null;

/**
 * The content of a link: view, sample with date and edits, codes. Nothing about a patient from a file. Missing and
 * malformed fields are null.
 */
export function readLink(hash: string) {
	const [, name = "", query = ""] = /^#?([^?]*)\??(.*)$/s.exec(hash) ?? [];
	const values = new URLSearchParams(query);
	const [from, to] = (values.get("zoom") ?? "").split(" ").map(numberIn);
	return {
		view: viewNamed(name) ?? "patient",
		sample: values.get("sample"),
		date: numberIn(values.get("at")),
		codes: (values.get("codes") ?? "").split(" ").filter(Boolean),
		/** As `editsText` writes them; empty if there are none. */
		edits: values.get("edits") ?? "",
		zoom: from != null && to != null && from < to ? ([from, to] as const) : null,
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
) {
	return {
		link: hash === null ? href : new URL(hash, href).href,
		words: patient?.sample === null ? "Link copied, without the patient" : "Link copied",
	};
}

/** The action that shows what a link describes, given the available samples. */
export function followLink(
	link: ReturnType<typeof readLink>,
	samples: readonly Patient[],
	vocabulary: Vocabulary,
): Action {
	const named = samples.find(({ sample }) => sample === link.sample);
	const [first] = samples;
	return {
		type: "link",
		view: link.view,
		codes: link.codes.flatMap((code) => vocabulary.find(code) ?? []),
		patient: named
			? {
					patient: named,
					date: dateWithin(link.date, named) ?? initialDate(named),
					zoom: link.zoom,
					edits: editsIn(link.edits, named, vocabulary),
				}
			: null,
		otherwise: {
			codes: defaultCodes(vocabulary),
			patient: first ? { patient: first, date: initialDate(first), zoom: null, edits: [] } : null,
		},
	};
}

/** Diabetes, heart failure, ischaemic heart disease, kidney disease, stroke and COPD, as PheCodes. */
const usual = ["250", "428", "411", "585", "433", "496"];

/** Conditions that people ask about, or the six most frequent codes. */
function defaultCodes(vocabulary: Vocabulary): number[] {
	const named = usual.flatMap((code) => vocabulary.find(code, "PheCode") ?? []);
	if (named.length > 0) return named;
	return [...vocabulary.tokens.keys()]
		.slice(specialCount)
		.sort((a, b) => (vocabulary.tokens[b]?.count ?? 0) - (vocabulary.tokens[a]?.count ?? 0))
		.slice(0, usual.length);
}
