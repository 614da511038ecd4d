import { InputError } from "../../base/errors.js";
import { fieldsOf } from "../records/delimited-rows.js";
import { builtInMap } from "./built-in.js";
import {
	type CodeMap,
	type IcdSystem,
	icdAndAncestors,
	integerPheCode,
	normaliseIcd,
	normalisePheCode,
	type PheCode,
	type PheCodeLevel,
} from "./map.js";

export interface MapRules {
	/** Default: integer. */
	readonly level?: PheCodeLevel | undefined;
	/** Codes that the file marks with "Ignore Bool" as too unspecific. Default: drop. */
	readonly ignore?: "drop" | "keep" | undefined;
	/**
	 * Whether a code that is not in the file has the PheCodes of the longest listed code above it (S72.001D those of
	 * S72.001). Default: exact, as in published results.
	 */
	readonly match?: "exact" | "prefix" | undefined;
}

const systems = new Map<string, MapSystem>([
	["icd9", "ICD9CM"],
	["icd9cm", "ICD9CM"],
	["icd10", "ICD10CM"],
	["icd10cm", "ICD10CM"],
	["snomed", "SNOMED"],
	["snomedct", "SNOMED"],
	["snomedctus", "SNOMED"],
]);
type MapSystem = IcdSystem | "SNOMED";
const systemOf = (text: string) => systems.get(text.toLowerCase().replace(/[ _-]/g, ""));
const blockOfCodes = /^[A-Z]\d[0-9A-Z]-[A-Z]\d[0-9A-Z]$/i; // A00-A09, a heading

type Columns = ReturnType<typeof columnsOf>;

function columnsOf(fields: readonly string[], where: string) {
	const header = fields.map((field) => field.toLowerCase());
	const find = (...names: readonly string[]) => header.findIndex((name) => names.includes(name));
	const phecode = find("phecode");
	const vocabulary = find("vocabulary_id");
	const code = vocabulary >= 0 ? find("code") : fields.findIndex((field) => systemOf(field));
	const system = vocabulary >= 0 ? vocabulary : systemOf(fields[code] ?? "");
	if (phecode < 0 || code < 0 || system === undefined)
		throw new InputError(
			`${where} has the columns ${fields.join(", ") || "(none)"}; expected ` +
				"vocabulary_id,code,phecode as in the PheWAS package, or ICD9 (or ICD10 or SNOMED), PheCode " +
				"and others as in the PheWAS catalogue",
		);
	return {
		/** One system for the whole file, or a column. */
		system,
		code,
		phecode,
		name: find("phenotype", "phecode_str", "phecode string"),
		ignored: find("ignore bool", "ignore_bool", "ignore"),
	};
}

type MapRow = NonNullable<ReturnType<typeof rowOf>>;

const codeForms: Readonly<Record<MapSystem, string>> = {
	ICD9CM: "an ICD-9 code",
	ICD10CM: "an ICD-10 code",
	SNOMED: "a SNOMED CT concept of 6 to 18 digits",
};

const conceptIn = (text: string) => /^\d{6,18}$/.exec(text.trim())?.[0];

/** Undefined for a row without a mapping: a heading, or a code without a PheCode. */
function rowOf(fields: readonly string[], columns: Columns, where: string) {
	const vocabulary = typeof columns.system === "number" ? (fields[columns.system] ?? "") : "";
	const system = typeof columns.system === "number" ? systemOf(vocabulary) : columns.system;
	if (system === undefined)
		throw new InputError(
			`${where} has vocabulary "${vocabulary}"; expected ICD9CM, ICD10CM or SNOMED`,
		);
	const { [columns.code]: icd = "", [columns.phecode]: number } = fields;
	if (number === undefined)
		throw new InputError(`${where} has ${fields.length} fields; expected as many as the header`);
	if (number === "" || number === "NA" || blockOfCodes.test(icd)) return undefined;
	const code = system === "SNOMED" ? conceptIn(icd) : normaliseIcd(system, icd);
	if (code === undefined)
		throw new InputError(
			`${where} has code "${icd}"; expected ${codeForms[system]} (if a spreadsheet dropped its zeros, take the file as published)`,
		);
	const phecode = normalisePheCode(number);
	if (phecode === undefined)
		throw new InputError(`${where} has PheCode "${number}"; expected a number such as 250.2`);
	return {
		system,
		code,
		phecode,
		name: fields[columns.name] ?? "",
		ignored: ["1", "1.0", "true"].includes((fields[columns.ignored] ?? "").toLowerCase()),
	};
}

/** Whether the first line of a table is that of a map. */
export function isMapHeader(fields: readonly string[]): boolean {
	try {
		return columnsOf(fields, "") !== undefined;
	} catch {
		return false;
	}
}

/** Makes a map of the lines of its file, in Node and in the browser: see `readPheCodeMap`. */
export function mapOfLines(
	file: string,
	{ level = "integer", ignore = "drop", match = "exact" }: MapRules = {},
) {
	const noCodes = () => new Map<string, string[]>();
	const phecodes = { ICD9CM: noCodes(), ICD10CM: noCodes(), SNOMED: noCodes() };
	const fileNames = new Map<string, string>();
	let columns: Columns | undefined;

	function take(row: MapRow): void {
		if (row.name) fileNames.set(row.phecode, row.name);
		if (row.ignored && ignore === "drop") return;
		const phecode = level === "integer" ? integerPheCode(row.phecode) : row.phecode;
		const known = phecodes[row.system].get(row.code);
		if (!known) phecodes[row.system].set(row.code, [phecode]);
		else if (!known.includes(phecode)) known.push(phecode);
	}

	return {
		add({ number, text }: { readonly number: number; readonly text: string }): void {
			if (!text.trim()) return;
			const where = `${file}: line ${number}`;
			const fields = fieldsOf(text, where);
			if (columns) {
				const row = rowOf(fields, columns, where);
				if (row) take(row);
			} else columns = columnsOf(fields, where);
		},
		/** How many codes of each system it maps. */
		counts: () => ({
			icd: phecodes.ICD9CM.size + phecodes.ICD10CM.size,
			snomed: phecodes.SNOMED.size,
		}),
		/** The map; `info` has further names. */
		end(info: ReadonlyMap<string, PheCode> = new Map()): CodeMap {
			const hasIcd = phecodes.ICD9CM.size + phecodes.ICD10CM.size > 0;
			if (!hasIcd && phecodes.SNOMED.size === 0)
				throw new InputError(`${file} maps no code; expected lines such as ICD9CM,428.0,428.1`);
			const builtIn = builtInMap();
			return {
				source: file,
				level,
				...(phecodes.SNOMED.size > 0 && {
					phecodesOfSnomed: (concept: string) => phecodes.SNOMED.get(concept.trim()) ?? [],
				}),
				phecodesOf(system, code) {
					if (!hasIcd) return level === "integer" ? builtIn.phecodesOf(system, code) : [];
					const normal = normaliseIcd(system, code);
					if (normal === undefined) return [];
					const codes = match === "prefix" ? icdAndAncestors(normal) : [normal];
					for (const listed of codes) {
						const mapped = phecodes[system].get(listed);
						if (mapped) return mapped;
					}
					return [];
				},
				nameOf(phecode) {
					const described = info.get(phecode);
					const general = builtIn.nameOf(integerPheCode(phecode));
					const name = fileNames.get(phecode) ?? described?.name ?? general?.name;
					if (name === undefined) return undefined;
					const category = described?.category ?? general?.category ?? null;
					return { code: phecode, name, category };
				},
			};
		},
	};
}
