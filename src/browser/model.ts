import { fromTokens, type Token, type Vocabulary } from "../cohort/vocabulary.js";
import type { ExportManifest } from "../export/manifest.js";
import { likeliest } from "../infer/likeliest.js";
import type { Answers, Events } from "../models/index.js";
import type { Calls, Opened } from "./calls.js";
import { historyOf, type Moment, type Person, timeOf, tokensOf } from "./person.js";

/** A code as a page names it, or the tokens it stands for. */
export type Code = string | readonly number[];

export interface LikelyCode {
	readonly token: number;
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
	readonly probability: number;
}

/** A model in a page: everything that is asked runs in a worker. Times are in the model's unit: see `time`. */
export interface BrowserModel extends Omit<Calls, "start" | "risk" | "attribute"> {
	/** What the export says of itself. */
	readonly manifest: ExportManifest;
	readonly vocabulary: Vocabulary;
	/** What executes, in words. */
	readonly runtime: string;
	/** A date, or a day on the axis of the records, as a time of the model. */
	time(moment: Moment): number;
	/** The events of a person; unknown codes are refused, with those that are near. */
	history(person: Person): Events;
	/** The tokens of a code, or of all codes below it. */
	tokens(code: string): readonly number[];
	start(patients?: number): ReturnType<Calls["start"]>;
	risk(
		histories: Parameters<Calls["risk"]>[0],
		codes: readonly Code[],
		times: Parameters<Calls["risk"]>[2],
	): ReturnType<Calls["risk"]>;
	attribute(
		history: Events,
		question: { readonly code: Code; readonly times: ArrayLike<number> },
	): ReturnType<Calls["attribute"]>;
	/** The likeliest codes of an answer. */
	likeliest(answers: Answers, count: number, patient?: number, question?: number): LikelyCode[];
	/** Ends the worker; nothing can be asked afterwards. */
	close(): void;
}

export function modelOver(opened: Opened, calls: Calls, close: () => void): BrowserModel {
	const { manifest, tokens } = opened;
	const codeTokens = (code: Code) => (typeof code === "string" ? tokensOf(code, tokens) : code);
	return {
		manifest,
		vocabulary: fromTokens(tokens),
		runtime: opened.runtime,
		time: (moment) => timeOf(moment, manifest.time),
		history: (person) => historyOf(person, tokens, manifest.time),
		tokens: (code) => tokensOf(code, tokens),
		...calls,
		start: (patients = 1) => calls.start(patients),
		risk: async (histories, codes, times) => calls.risk(histories, codes.map(codeTokens), times),
		attribute: async (history, { code, times }) =>
			calls.attribute(history, { codes: codeTokens(code), times }),
		likeliest: (answers, count, patient = 0, question = 0) =>
			likeliest(answers, { top: count, patient, question }).map(({ token, probability }) => {
				const { code, name, category } = tokens[token] as Token;
				return { token, code, name, category, probability };
			}),
		close,
	};
}
