import { InputError } from "../../../src/base/errors.js";
import { parseMoment } from "../../../src/records/fhir/dates.js";
import { sexes } from "../../../src/records/sexes.js";
import { knownSystems, systemNamed } from "../../../src/records/systems.js";
import { expectedYears } from "../../../src/records/years.js";
import { rowsOf } from "./delimited.js";
import type { FileContent, FilePerson, FileRecord } from "./records.js";

const names = {
	patient: ["patient", "patient_id", "subject_id", "person_id", "member_id", "mrn", "id"],
	time: ["time", "date", "service_date", "diagnosis_date", "event_date", "start_date", "datetime"],
	age: ["age_days", "age_years", "days", "day"],
	code: [
		"code",
		"icd",
		"icd_code",
		"diagnosis_code",
		"dx",
		"phecode",
		"icd9",
		"icd9_code",
		"icd10",
	],
	system: ["system", "code_system", "vocabulary_id", "vocabulary", "icd_version"],
	sex: ["sex", "gender"],
	birth: ["birth", "birth_date", "birthdate", "date_of_birth", "dob"],
} as const;

const expected =
	"expected columns patient, time (or date) and code, and if need be system, sex and birth";

interface Columns {
	readonly patient: number;
	readonly time: number;
	readonly code: number;
	readonly system: number;
	readonly sex: number;
	readonly birth: number;
	/** Days in a number of the time's column; null where it holds dates. */
	readonly days: number | null;
	/** That the name of the code's column tells. */
	readonly systemOfAll: string | null;
}

function columnsOf(header: readonly string[]): Columns {
	const lower = header.map((name) => name.toLowerCase().replace(/^\uFEFF/, ""));
	const find = (wanted: readonly string[]) =>
		wanted.map((name) => lower.indexOf(name)).find((at) => at >= 0) ?? -1;
	const [patient, date, age, code] = [names.patient, names.time, names.age, names.code].map(find);
	const time = (date as number) >= 0 ? (date as number) : (age as number);
	const missing = Object.entries({ patient, time, code }).find(([, at]) => (at as number) < 0);
	if (missing)
		throw new InputError(
			`no column for the ${missing[0]}: the first line has ${header.slice(0, 8).join(", ").slice(0, 120) || "nothing"}; ${expected}`,
		);
	const codeName = (lower[code as number] as string).replace(/_code$/, "");
	return {
		patient: patient as number,
		time,
		code: code as number,
		system: find(names.system),
		sex: find(names.sex),
		birth: find(names.birth),
		days: (date as number) >= 0 ? null : lower[time] === "age_years" ? 365.25 : 1,
		systemOfAll: ["code", "icd", "dx"].includes(codeName) ? null : (systemNamed(codeName) ?? null),
	};
}

const shown = (text: string) => JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);

function dayOf(text: string, days: number | null, where: string): number {
	const number = text === "" ? Number.NaN : Number(text);
	if (days !== null) {
		if (Number.isFinite(number)) return number * days;
		throw new InputError(
			`${where}: the time is ${shown(text)}; expected a number of days or years`,
		);
	}
	const compact = /^(\d{4})[/]?(\d\d)[/]?(\d\d)$/.exec(text);
	const written = compact ? compact.slice(1).join("-") : text.replaceAll("/", "-");
	const moment = parseMoment(written);
	if (moment && !/^\d{1,3}$/.test(text)) return moment.day;
	throw new InputError(
		`${where}: the time is ${shown(text)}; expected a date such as 2020-01-31 or 2020-01-31T12:30:00Z, ${expectedYears}; for ages name the column age_days or age_years`,
	);
}

/** Diagnoses from a table: one row a record. */
export function readCsv(text: string): FileContent {
	const [header, ...rows] = rowsOf(text);
	if (!header) throw new InputError(`the file is empty; ${expected}`);
	const columns = columnsOf(header);
	if (rows.length === 0)
		throw new InputError("the file has a line of names and no record; expected one row a record");
	const people = new Map<string, FilePerson>();
	const records = rows.map((row, at): FileRecord => {
		const where = `line ${at + 2}`;
		if (row.length < Math.max(columns.patient, columns.time, columns.code) + 1)
			throw new InputError(
				`${where} has ${row.length} fields; expected ${header.length}, as the first line has`,
			);
		const [patient, time, code] = [columns.patient, columns.time, columns.code].map(
			(column) => row[column] as string,
		) as [string, string, string];
		if (patient === "" || code === "")
			throw new InputError(
				`${where} has no ${patient === "" ? "patient" : "code"}; fill it in or remove the row`,
			);
		const { birth, sex } = people.get(patient) ?? { birth: null, sex: null };
		const [bornText, sexText] = [row[columns.birth] ?? "", row[columns.sex] ?? ""];
		people.set(patient, {
			birth: birth ?? (bornText === "" ? null : dayOf(bornText, columns.days, `${where}, birth`)),
			sex: sex ?? sexes.get(sexText.toLowerCase()) ?? null,
		});
		const named = row[columns.system] ?? "";
		const system = named === "" ? columns.systemOfAll : systemNamed(named);
		if (system === undefined)
			throw new InputError(
				`${where}: the system is ${shown(named)}, which is not known; known are ${knownSystems.join(", ")}`,
			);
		return { patient, day: dayOf(time, columns.days, where), code, system, kind: "diagnosis" };
	});
	return {
		format: "CSV",
		axis: columns.days === null ? "dates" : "days",
		records,
		people,
		notes: [],
	};
}
