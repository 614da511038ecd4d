import { z } from "zod";
import { recordKinds, type Sex } from "../records/rows.js";

/** Special tokens come first, so a token is a target iff it is ≥ `specialCount`. */
export const specialTokens = {
	pad: 0,
	sos: 1,
	birth: 2,
	female: 3,
	male: 4,
} as const;
export const specialCount = 5;

// Schemas are pure, so that pages that do not check files leave out zod.
const valueRange = /* @__PURE__ */ (() =>
	z.strictObject({
		/** The code whose values these are, and its name; the token's own code and name are others. */
		code: z.string().min(1),
		name: z.string(),
		unit: z.string().min(1).nullable(),
		/** Values above `low`, up to and including `high`; null: without a limit. */
		low: z.number().nullable(),
		high: z.number().nullable(),
		/** The number of the range, from 1, and how many there are. */
		quantile: z.int().min(1),
		of: z.int().min(2),
	}))();
export type ValueRange = z.infer<typeof valueRange>;

const tokenSchema = /* @__PURE__ */ (() =>
	z.strictObject({
		kind: z.enum(["special", ...recordKinds]),
		code: z.string().min(1),
		/** The classification the code belongs to; null for special tokens. */
		system: z.string().min(1).nullable(),
		name: z.string(),
		category: z.string().nullable(),
		/** Records in the training split. */
		count: z.int().min(0),
		/** The range of values that the token stands for, if any. */
		value: valueRange.optional(),
	}))();
export type Token = z.infer<typeof tokenSchema>;

const special = (code: string, name: string): Token => ({
	kind: "special",
	code,
	system: null,
	name,
	category: null,
	count: 0,
});

const specials: readonly Token[] = [
	special("[PAD]", "padding"),
	special("[SOS]", "start of the history"),
	special("[BIRTH]", "birth, sex unknown"),
	special("[FEMALE]", "birth of a girl"),
	special("[MALE]", "birth of a boy"),
];

export const vocabularySchema = /* @__PURE__ */ (() =>
	z.strictObject({
		tokens: z
			.array(tokenSchema)
			.min(specialCount + 1)
			.refine((tokens) => specials.every((special, at) => tokens[at]?.code === special.code), {
				message: `must begin with ${specials.map((token) => token.code).join(", ")}`,
			})
			.refine((tokens) => tokens.every((t, at) => (t.kind === "special") === at < specialCount), {
				message: `must hold special tokens in the first ${specialCount} places and nowhere else`,
			})
			.refine((tokens) => new Set(tokens.map(keyOf)).size === tokens.length, {
				message: "must not hold a code twice",
			}),
	}))();

/** The tokens of a dataset; a token's number is its position. */
export interface Vocabulary {
	readonly tokens: readonly Token[];
	readonly size: number;
	/** The token of a code; special tokens are never found. Without a system, the first match. */
	find(code: string, system?: string): number | undefined;
	/** The tokens of a code: its own, and those of the ranges of its values. Without a system, of the first match. */
	tokensOf(code: string, system?: string): readonly number[];
}

/** A token without its range of values: tokens of one code have the same key. */
export const codeKey = ({
	code,
	system,
	value,
}: Pick<Token, "code" | "system" | "value">): string =>
	keyOf({ system, code: value?.code ?? code });

function keyOf(token: { readonly system: string | null; readonly code: string }): string {
	return `${token.system ?? ""}\u0000${token.code}`;
}

/** Puts the special tokens before the given codes. */
export function vocabularyOf(codes: readonly Token[]): Vocabulary {
	return fromTokens([...specials, ...codes]);
}

export function fromTokens(tokens: readonly Token[]): Vocabulary {
	const bySystem = new Map<string, number>();
	const byCode = new Map<string, number>();
	const ofCode = new Map<string, number[]>();
	const systemOf = new Map<string, string | null>();
	for (const [at, token] of tokens.entries()) {
		if (at < specialCount) continue;
		bySystem.set(keyOf(token), at);
		if (!byCode.has(token.code)) byCode.set(token.code, at);
		const { code } = token.value ?? token;
		if (!systemOf.has(code)) systemOf.set(code, token.system);
		const same = ofCode.get(codeKey(token));
		if (same) same.push(at);
		else ofCode.set(codeKey(token), [at]);
	}
	return {
		tokens,
		size: tokens.length,
		find: (code, system) =>
			system === undefined ? byCode.get(code) : bySystem.get(keyOf({ system, code })),
		tokensOf: (code, system = systemOf.get(code) ?? "") =>
			ofCode.get(keyOf({ system, code })) ?? [],
	};
}

/** The token of the birth event. */
export function birthToken(sex: Sex | null): number {
	return sex === null ? specialTokens.birth : specialTokens[sex];
}
