import { InputError } from "../base/errors.js";
import { dayOfIsoDate } from "../base/time.js";
import { birthToken, specialCount, type Token } from "../cohort/vocabulary.js";
import type { ExportManifest } from "../export/manifest.js";

/** A date, yyyy-mm-dd, or a day on the axis of the records. */
export type Moment = string | number;

/** A moment as a day. */
export function timeOf(moment: Moment, { axis }: ExportManifest["time"]): number {
	if (typeof moment === "number") {
		if (Number.isFinite(moment)) return moment;
		throw new InputError(`${moment} is no day; expected a number of days`);
	}
	if (axis === "days")
		throw new InputError(
			`"${moment}" is a date, but this model's times are days from an origin of its records' own; give a number of days`,
		);
	const day = dayOfIsoDate(moment);
	if (day === undefined)
		throw new InputError(`"${moment}" is no date; expected one like 2012-06-30`);
	return day;
}

/** The tokens of a code: its own, or those of all codes below it (250 is above 250.2). */
export function tokensOf(asked: string, tokens: readonly Token[]): number[] {
	const text = asked.trim();
	const found = (fits: (code: string) => boolean) =>
		tokens.flatMap(({ code }, at) => (at >= specialCount && fits(code) ? [at] : []));
	const own = found((code) => code === text);
	if (own.length > 0) return own;
	const below = found((code) => code.startsWith(`${text}.`));
	if (below.length > 0) return below;
	const near = nearCodes(text.toLowerCase(), tokens.slice(specialCount));
	throw new InputError(
		`the model has no code "${asked}"${near.length > 0 ? `; near it are ${near.join(", ")}` : ""}; expected one of its ${tokens.length - specialCount} codes`,
	);
}

/** Those with the text in their name; where there are none, those that begin alike. */
function nearCodes(text: string, tokens: readonly Token[]): string[] {
	const byName = tokens.filter(({ name }) => text !== "" && name.toLowerCase().includes(text));
	const start = text.slice(0, 2);
	const byCode = tokens.filter(({ code }) => start !== "" && code.toLowerCase().startsWith(start));
	return (byName.length > 0 ? byName : byCode)
		.slice(0, 5)
		.map(({ code, name }) => (name === code ? code : `${code} ${name}`));
}

/** A person as a page knows them. */
export interface Person {
	readonly sex?: "female" | "male" | null;
	readonly birth?: Moment | null;
	/** In any order. */
	readonly events: readonly { readonly code: string; readonly date: Moment }[];
}

/** The events of a person, the birth first where it is known. */
export function historyOf(
	{ sex = null, birth = null, events }: Person,
	tokens: readonly Token[],
	time: ExportManifest["time"],
): { readonly tokens: Int32Array; readonly times: Float64Array } {
	const placed = events
		.map(({ code, date }) => ({ token: oneToken(code, tokens), time: timeOf(date, time) }))
		.sort((a, b) => a.time - b.time);
	if (birth !== null) {
		const born = timeOf(birth, time);
		const early = placed[0];
		if (early && early.time < born)
			throw new InputError(`an event comes before the birth, ${birth}; correct one of the dates`);
		placed.unshift({ token: birthToken(sex), time: born });
	}
	return {
		tokens: Int32Array.from(placed, ({ token }) => token),
		times: Float64Array.from(placed, ({ time }) => time),
	};
}

function oneToken(code: string, tokens: readonly Token[]): number {
	const [own, ...more] = tokensOf(code, tokens);
	if (more.length === 0) return own as number;
	throw new InputError(
		`an event has the code "${code}", which stands for ${more.length + 1} codes of the model; name one of them`,
	);
}
