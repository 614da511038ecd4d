import { type IcdSystem, icdNames, normaliseIcd } from "./icd.js";
import { type CodeMap, integerPheCode, isAtOrBelow, normalisePheCode } from "./map.js";

/** A code, and what led to it if its own number does not. */
export interface NumberedCode {
	readonly at: number;
	readonly via?: string;
}

const icdSystems = ["ICD10CM", "ICD9CM"] as const satisfies readonly IcdSystem[];
const isIcd = (system: string | null): system is IcdSystem =>
	icdSystems.some((known) => known === system);

/** The ten codes right below an ICD code, which may be mapped where it is not itself. */
const childrenOf = (icd: string): readonly string[] =>
	[..."0123456789"].map((digit) => (icd.includes(".") ? icd + digit : `${icd}.${digit}`));

/** Looks up codes by number: as PheCodes, ICD codes or SNOMED CT concepts, through the map where they are others. */
export function codesByNumber(
	codes: readonly { readonly code: string; readonly system: string | null }[],
	map: Pick<CodeMap, "phecodesOf" | "phecodesOfSnomed">,
) {
	const is = (at: number, system: string, code?: string) =>
		codes[at]?.system === system && (code === undefined || codes[at]?.code === code);
	const phecodesAt = codes.map(({ system, code }) =>
		system === "PheCode" ? [code] : isIcd(system) ? map.phecodesOf(system, code) : [],
	);
	const byCode = new Map<string, number[]>();
	const byPheCode = new Map<string, number[]>();
	for (const [at, { code, system }] of codes.entries()) {
		if (system !== null) listIn(byCode, code.toLowerCase(), at);
		for (const phecode of new Set(phecodesAt[at]?.map(integerPheCode)))
			listIn(byPheCode, phecode, at);
	}

	/** The codes at or below a PheCode or, at integer level, those of its integer. */
	const ofPheCode = (phecode: string): readonly number[] => {
		const integer = integerPheCode(phecode);
		const found = byPheCode.get(integer) ?? [];
		const below = found.filter((at) =>
			phecodesAt[at]?.some((code) => isAtOrBelow(code, phecode, "PheCode")),
		);
		return below.length > 0 ? below : found.filter((at) => phecodesAt[at]?.includes(integer));
	};

	const phecodesOfIcd = (system: IcdSystem, icd: string): readonly string[] => {
		const own = map.phecodesOf(system, icd);
		if (own.length > 0) return own;
		return childrenOf(icd).flatMap((code) => map.phecodesOf(system, code));
	};

	/** The code of this number, those below it, then those that it is mapped to. */
	function* find(text: string): Generator<NumberedCode> {
		for (const at of byCode.get(text.toLowerCase()) ?? []) yield { at };
		if (!/\d/.test(text)) return;
		const phecode = normalisePheCode(text);
		const below = phecode === undefined ? [] : ofPheCode(phecode);
		for (const at of below.filter((place) => is(place, "PheCode", phecode))) yield { at };
		for (const at of below.filter((place) => is(place, "PheCode"))) yield { at };
		const icds = icdSystems.flatMap((system) => {
			const icd = normaliseIcd(system, text);
			if (icd === undefined) return [];
			const own = [...codes.keys()].filter(
				(at) => is(at, system) && isAtOrBelow(codes[at]?.code ?? "", icd, system),
			);
			return [{ system, icd, own }];
		});
		for (const at of icds.flatMap(({ own }) => own)) yield { at };
		for (const at of below) yield { at, via: `PheCode ${phecode}` };
		for (const { system, icd, own } of icds)
			if (own.length === 0)
				for (const at of phecodesOfIcd(system, icd).flatMap(ofPheCode))
					yield { at, via: `${icdNames[system]} ${icd}` };
		for (const at of map.phecodesOfSnomed?.(text)?.flatMap(ofPheCode) ?? [])
			yield { at, via: `SNOMED ${text}` };
	}
	return {
		find,
		/** The codes of a PheCode at integer level. */
		ofInteger: (phecode: string): readonly number[] => byPheCode.get(phecode) ?? [],
		hasPheCode: (at: number) => (phecodesAt[at]?.length ?? 0) > 0,
	};
}

/** Adds a value to the list of a key. */
export function listIn(lists: Map<string, number[]>, key: string, value: number): void {
	const list = lists.get(key);
	if (list) list.push(value);
	else lists.set(key, [value]);
}
