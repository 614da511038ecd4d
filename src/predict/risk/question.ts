import { InputError } from "../../base/errors.js";
import { yearDays } from "../../base/time.js";
import { type NotAtRisk, whyNotAtRisk } from "../../data/cohort/at-risk.js";
import type { Manifest, NewPatient, UnknownCodes } from "../../data/cohort/index.js";
import type { HazardSettings } from "../../model/hazards/settings.js";
import { hazardSettingsOf } from "../hazards.js";
import { type Edit, edited } from "../histories.js";
import { cutHorizons, independenceNotes, outputsFor } from "../incidence.js";
import { type CodeBook, type FoundCode, findCode } from "../user-input/find-code.js";
import {
	dayText,
	editWarnings,
	type GridOptions,
	inField,
	lastRecord,
	nothingRecorded,
	readSpan,
	readTime,
	type SpanInput,
	spanText,
	type Timed,
	type TimeInput,
	timeGrid,
	usualHorizon,
	usualHorizons,
	warningsFor,
} from "../user-input/moments.js";

export interface CodeGroup {
	readonly name: string;
	/** Its members, as users write codes. */
	readonly codes: readonly string[];
}

/** A question about risk, as users write it: the probability that codes are recorded, death competing. */
export interface RiskQuestion extends GridOptions {
	/** Codes, and names of groups of the run. */
	readonly codes: readonly string[];
	/**
	 * Sets of codes: the risk of the first record of any member. A set that the model has hazards for is answered from
	 * them, others from sampled futures.
	 */
	readonly groups?: readonly CodeGroup[] | undefined;
	/** The index day. Default: the last record. */
	readonly at?: TimeInput | undefined;
	/** After the index day. Default: `usualHorizons`. */
	readonly horizons?: readonly SpanInput[] | undefined;
	/** The horizon of the trajectory. Default: `usualHorizon`. */
	readonly horizon?: SpanInput | undefined;
	/** Whether the risk along the history is asked for; yes by default. */
	readonly trajectory?: boolean | undefined;
	/** Times at which to attribute the risk to events. */
	readonly attribute?: readonly TimeInput[] | undefined;
	/**
	 * Explain the risk of the only code within `horizon`, the only one of `horizons` or 5 years: what the records of each
	 * code add or, with edits, what each edit adds.
	 */
	readonly why?: boolean | undefined;
	/** Edits of the history: codes to add, and numbers of events to remove or move, counted from 1 without birth. */
	readonly add?: readonly { readonly code: string; readonly at: TimeInput }[] | undefined;
	readonly remove?: readonly number[] | undefined;
	readonly move?: readonly { readonly event: number; readonly at: TimeInput }[] | undefined;
}

/** A horizon as it was asked for, and cut to what the model has learned. */
export interface Horizon {
	readonly years: number;
	readonly days: number;
}

type QuestionedModel = Omit<CodeBook, "groups"> & { readonly config: unknown };

/** The hazards of a model, and where its codes are looked up. */
export function hazardBook(model: QuestionedModel) {
	const settings = hazardSettingsOf(model);
	return {
		settings,
		vocab: model.vocabulary.size,
		longestDays: settings.binDays.at(-1) as number,
		book: { ...model, groups: settings.groups },
	};
}

export const readCodes = (codes: readonly string[], book: CodeBook): FoundCode[] =>
	codes.map((code, place) => inField(`codes.${place}`, () => findCode(code, book)));

/** Horizons in days, cut to what the model has learned. */
export function readHorizons(
	model: Pick<ReturnType<typeof hazardBook>, "longestDays">,
	horizons: readonly SpanInput[] = usualHorizons,
) {
	const asked = horizons.map((span, place) => readSpan(span, "horizons", `horizons.${place}`));
	const { days, warnings } = cutHorizons(model, asked);
	return {
		horizons: days.map((cut, i): Horizon => ({ years: yearsOf(asked[i]), days: cut })),
		warnings,
	};
}

/** Years that were asked for, without the rounding of their days. */
const yearsOf = (days: number) => Number((days / yearDays).toPrecision(12));

/** The index day; refused after death. */
export function readIndexDay(at: TimeInput | undefined, timed: Timed): number {
	const { patient, axis } = timed;
	const day = readTime(at ?? lastRecord, timed, "at");
	if (patient.death !== null && Math.floor(patient.death) < Math.floor(day))
		throw new InputError(
			`patient ${patient.id} died on ${dayText(patient.death, axis)}, before the index day (${dayText(day, axis)}); give an earlier \`at\``,
			{ field: "at" },
		);
	return day;
}

/** A question that was read: codes as tokens, times and horizons as days. */
export type RiskQuery = ReturnType<typeof readRisk>;

export function readRisk(model: QuestionedModel, timed: Timed, question: RiskQuestion) {
	checkExplained(question);
	const { book, ...hazards } = hazardBook(model);
	const groups = readGroups(question.groups ?? [], { ...model });
	const hasHazards = ({ tokens }: (typeof groups)[number]) =>
		outputsFor(hazards, [...tokens]).length === 1;
	const sampled = groups.filter((group) => !hasHazards(group));
	const codes = [
		...readCodes(question.codes, book),
		...groups
			.filter(hasHazards)
			.map(({ name, tokens }): FoundCode => ({ code: name, name, tokens: [...tokens] })),
	];
	const { horizons, warnings } = readHorizons(hazards, question.horizons);
	const along = cutHorizons(hazards, [readSpan(question.horizon ?? usualHorizon, "horizon")]);
	return {
		...timed,
		codes,
		/** Sets of codes that the model has no hazards for. */
		groups: sampled,
		/** The index day; its records are known. */
		at: readIndexDay(question.at, timed),
		horizons,
		horizonDays: along.days[0],
		times: question.trajectory === false ? new Float64Array(0) : timeGrid(timed, question),
		/** Times at which to attribute the risk to events. */
		attributed: (question.attribute ?? []).map((time) => readTime(time, timed, "attribute")),
		/** The horizon of the risk to explain; null to explain none. */
		explainedDays: question.why ? cutHorizons(hazards, [explainedDays(question)]).days[0] : null,
		whatIf: readEdits(question, timed, model),
		/** How codes were interpreted, where that is not obvious. */
		notes: [...codes, ...sampled.flatMap((group) => group.codes)].flatMap(({ note }) => note ?? []),
		/** Codes whose members are taken as independent. */
		assumptions: independenceNotes(hazards, codes),
		/** On horizons that were cut. */
		warnings: [...warnings, ...along.warnings],
	};
}

const readGroups = (groups: readonly CodeGroup[], book: CodeBook) =>
	groups.map(({ name, codes }, i) => {
		const refused = (problem: string) => new InputError(problem, { field: "group", value: name });
		if (groups.findIndex((other) => other.name === name) < i)
			throw refused(`two groups are called ${name}; give each \`group\` a name of its own`);
		if (codes.length === 0)
			throw refused(`the group ${name} has no codes; expected NAME=CODE,CODE,…`);
		const members = codes.map((code) => findCode(code, book));
		return { name, codes: members, tokens: new Set(members.flatMap(({ tokens }) => tokens)) };
	});

/** Reasons are of one code: those of several would be tables of their own. */
function checkExplained({ why, codes, groups = [] }: RiskQuestion): void {
	if (!why || (codes.length === 1 && groups.length === 0)) return;
	const [given, advice] =
		groups.length > 0
			? ["`group`", "leave it out"]
			: [codes.length === 0 ? "no code" : `${codes.length} codes`, "name one with `code`"];
	throw new InputError(`\`why\` explains the risk of one code, and was given ${given}; ${advice}`, {
		field: "why",
	});
}

/** The horizon of reasons: `horizon` if it is given, else the only one of `horizons`, else the usual one. */
function explainedDays({ horizon, horizons }: RiskQuestion): number {
	const only = horizons?.length === 1 ? horizons[0] : undefined;
	return readSpan(horizon ?? only ?? usualHorizon, "horizon");
}

/** What an index day lacks that landmarks in training have. */
export function notAtRiskWarnings(
	history: NewPatient["history"],
	at: number,
	lookBackDays: number,
): string[] {
	const reason = whyNotAtRisk(history, at, lookBackDays);
	// Times after death have a warning of their own.
	if (reason === null || (history.death !== null && at > history.death)) return [];
	const texts: Readonly<Record<NotAtRisk, string>> = {
		dead: "the patient died on the index day: the risk is that of somebody alive with these records",
		"not observed at the index day":
			"the index day lies outside the patient's observed time: records near it may be missing, and the risk may be too low",
		"look-back not covered": `the patient was observed for less than ${spanText(lookBackDays)} before the index day: codes that existed before may count as new, and the risk of a first record may be too high or too low`,
	};
	return [texts[reason]];
}

/** Caveats on the times and edits of a query. */
export function riskWarnings(
	{ patient, at, times, attributed, whatIf }: RiskQuery,
	unknown: Pick<UnknownCodes, "codes" | "records">,
	manifest: Manifest,
	{ lookBackDays }: Pick<HazardSettings, "lookBackDays">,
): string[] {
	const { history } = patient;
	const addedLate = whatIf?.edits.filter(
		(edit) => "add" in edit && Math.floor(edit.add.time) > Math.floor(at),
	).length;
	const changed = whatIf && Array.from(edited(history, whatIf.edits).times);
	return [
		...notAtRiskWarnings(history, at, lookBackDays),
		...warningsFor(
			{ unknown },
			[...new Set([at, ...times, ...attributed])].map((time) => ({ patient, time })),
			manifest,
			nothingRecorded,
		),
		...(changed ? editWarnings(changed.slice(history.birthEvents), manifest, addedLate) : []),
	];
}

/** The requested edits; undefined if there are none. */
function readEdits(
	{ add = [], remove = [], move = [] }: RiskQuestion,
	timed: Timed,
	book: CodeBook,
) {
	if (add.length + remove.length + move.length === 0) return undefined;
	const { patient, axis } = timed;
	const { tokens, times, birthEvents } = patient.history;
	const count = tokens.length - birthEvents;
	const nameOf = (token: number) => book.vocabulary.tokens[token].name;
	const dated = (index: number) => `${nameOf(tokens[index])} of ${dayText(times[index], axis)}`;
	const edited = new Set<number>();
	const indexOf = (event: number, option: "remove" | "move") => {
		if (event > count)
			throw new InputError(
				`\`${option}\` ${event}: patient ${patient.id} has ${count} events; \`events\` lists them`,
				{ field: option, value: event },
			);
		if (edited.has(event))
			throw new InputError(
				`event ${event} is edited twice; give one \`remove\` or \`move\` per event`,
			);
		edited.add(event);
		return event - 1 + birthEvents;
	};
	const named: { readonly edit: Edit; readonly name: string }[] = [];
	for (const { code, at } of add) {
		const token = oneToken(code, book);
		const time = readTime(at, timed, "add");
		const name = `with ${nameOf(token)} at ${dayText(time, axis)}`;
		named.push({ edit: { add: { token, time } }, name });
	}
	for (const event of remove) {
		const index = indexOf(event, "remove");
		named.push({ edit: { remove: index }, name: `without ${dated(index)}` });
	}
	for (const { event, at } of move) {
		const index = indexOf(event, "move");
		const to = readTime(at, timed, "move");
		named.push({
			edit: { move: index, to },
			name: `${dated(index)} moved to ${dayText(to, axis)}`,
		});
	}
	if (count + add.length === remove.length)
		throw new InputError(
			`\`remove\` leaves patient ${patient.id} no record; a prediction needs at least one`,
			{ field: "remove" },
		);
	const names = named.map(({ name }) => name);
	return { edits: named.map(({ edit }) => edit), names, name: names.join(", ") };
}

function oneToken(code: string, book: CodeBook): number {
	const { tokens } = findCode(code, book);
	const itself = tokens.find((token) => book.vocabulary.tokens[token]?.code === code);
	if (itself !== undefined) return itself;
	if (tokens.length === 1) return tokens[0];
	const codes = tokens.slice(0, 5).map((token) => book.vocabulary.tokens[token]?.code);
	throw new InputError(
		`\`add\` ${code} stands for ${tokens.length} codes of the model; name one of them, such as ${codes.join(", ")}`,
		{ field: "add", value: code },
	);
}
