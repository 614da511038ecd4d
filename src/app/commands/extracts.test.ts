import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { writeParquet } from "../../data/records/testing/write-parquet.js";
import { column, done, json, smallModel, words } from "./testing/captured.js";

/** An extract in the layout of a public source, with invented values. */
interface Extract {
	readonly name: string;
	/** The content of each file; of Parquet, as CSV. */
	readonly files: Readonly<Record<string, string>>;
	/** What `prepare` reads; names of files and folders stand for their paths, here and in `reading`. */
	readonly source: string;
	readonly from: string;
	/** How it is read, for `prepare` and for `forecast`. */
	readonly reading: string;
	/** Options of `prepare` alone. */
	readonly cohort?: string;
	readonly expected: {
		/** Records, before anything is left out. */
		readonly records: number;
		/** Diagnoses with a PheCode. */
		readonly mapped: number;
		readonly patients: number;
		readonly notes: readonly RegExp[];
		/** Names of codes. */
		readonly names: readonly string[];
		/** Names of ranges of values. */
		readonly ranges?: readonly RegExp[];
		/** The query times of forecast without --at. */
		readonly usualTimes?: readonly string[];
	};
	/** A patient, and a query time that suits the data. */
	readonly patient: string;
	readonly at: string;
}

const people = Array.from({ length: 20 }, (_, at) => at + 1);
const year = (at: number) => 2008 + (at % 3);
const day = (at: number) => String(1 + (at % 28)).padStart(2, "0");

/** A CSV file with these columns; a row names the fields that are not empty. */
function csv(header: string, rows: readonly Readonly<Record<string, string | number>>[]): string {
	const columns = header.split(",");
	const lines = rows.map((row) => {
		for (const name of Object.keys(row)) expect(columns).toContain(name);
		return columns.map((name) => quoted(String(row[name] ?? ""))).join(",");
	});
	return `${[header, ...lines].join("\n")}\n`;
}
const quoted = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const synthea: Extract = {
	name: "Synthea CSV",
	files: {
		"patients.csv": csv(
			"Id,BIRTHDATE,DEATHDATE,SSN,DRIVERS,PASSPORT,PREFIX,FIRST,MIDDLE,LAST,SUFFIX,MAIDEN,MARITAL,RACE,ETHNICITY,GENDER,BIRTHPLACE,ADDRESS,CITY,STATE,COUNTY,FIPS,ZIP,LAT,LON,HEALTHCARE_EXPENSES,HEALTHCARE_COVERAGE,INCOME",
			people.map((at) => ({
				Id: `patient-${at}`,
				BIRTHDATE: `1970-02-${day(at)}`,
				GENDER: at % 2 ? "F" : "M",
			})),
		),
		"conditions.csv": csv(
			"START,STOP,PATIENT,ENCOUNTER,CODE,DESCRIPTION",
			people.flatMap((at) => [
				{
					...{ START: `${year(at)}-01-${day(at)}`, PATIENT: `patient-${at}`, ENCOUNTER: "e" },
					...{ CODE: "44054006", DESCRIPTION: "Diabetes mellitus type 2 (disorder)" },
				},
				{
					...{ START: `${year(at)}-03-${day(at)}`, PATIENT: `patient-${at}`, ENCOUNTER: "f" },
					...{ CODE: "59621000", DESCRIPTION: "Essential hypertension (disorder)" },
				},
			]),
		),
		"medications.csv": csv(
			"START,STOP,PATIENT,PAYER,ENCOUNTER,CODE,DESCRIPTION,BASE_COST,PAYER_COVERAGE,DISPENSES,TOTALCOST,REASONCODE,REASONDESCRIPTION",
			people.map((at) => ({
				...{ START: `${year(at)}-01-${day(at)}T08:30:00Z`, PATIENT: `patient-${at}` },
				...{ CODE: "860975", DESCRIPTION: "metformin 500 MG Extended Release Oral Tablet" },
			})),
		),
	},
	source: "conditions.csv",
	from: "csv",
	reading:
		"--system snomed --name DESCRIPTION --people patients.csv --drugs-file medications.csv --drug-system rxnorm",
	cohort: "--drugs tokens",
	expected: {
		records: 60,
		mapped: 0,
		patients: 20,
		notes: [/name is DESCRIPTION/, /sex is GENDER \(10 female, 10 male/],
		names: ["Diabetes mellitus type 2 (disorder)", "metformin 500 MG Extended Release Oral Tablet"],
	},
	patient: "patient-4",
	at: "+6m",
};

/** Days of four tests per person, and their results: from 4 to 11 mmol/L. */
const tests = ["02-01", "04-01", "06-01", "08-01"];
const glucose = (at: number, test: number) => 4 + ((7 * at + 11 * test) % 29) / 4;

const concepts = [
	[201_826, "Type 2 diabetes mellitus", "SNOMED", "44054006"],
	[3_004_501, "Glucose", "LOINC", "2345-7"],
	[8840, "milligram per deciliter", "UCUM", "mg/dL"],
	[8753, "millimole per liter", "UCUM", "mmol/L"],
] as const;

const coding = (system: string, code: string, display: string) => ({
	coding: [{ system, code, display }],
});

const withValues: readonly Extract[] = [
	{
		name: "OMOP 5.4 with measurements",
		files: {
			"cdm/person.csv": csv(
				"person_id,gender_concept_id,year_of_birth,month_of_birth,day_of_birth,birth_datetime,race_concept_id,ethnicity_concept_id,location_id,provider_id,care_site_id,person_source_value,gender_source_value,gender_source_concept_id,race_source_value,race_source_concept_id,ethnicity_source_value,ethnicity_source_concept_id",
				people.map((at) => ({
					...{ person_id: at, gender_concept_id: at % 2 ? 8532 : 8507, year_of_birth: 1940 + at },
				})),
			),
			"cdm/condition_occurrence.csv": csv(
				"condition_occurrence_id,person_id,condition_concept_id,condition_start_date,condition_start_datetime,condition_end_date,condition_end_datetime,condition_type_concept_id,condition_status_concept_id,stop_reason,provider_id,visit_occurrence_id,visit_detail_id,condition_source_value,condition_source_concept_id,condition_status_source_value",
				people.map((at) => ({
					...{ condition_occurrence_id: at, person_id: at, condition_concept_id: 201_826 },
					...{ condition_start_date: `${year(at)}-01-${day(at)}`, condition_source_value: "E11.9" },
				})),
			),
			"cdm/measurement.csv": csv(
				"measurement_id,person_id,measurement_concept_id,measurement_date,measurement_datetime,measurement_time,measurement_type_concept_id,operator_concept_id,value_as_number,value_as_concept_id,unit_concept_id,range_low,range_high,provider_id,visit_occurrence_id,visit_detail_id,measurement_source_value,measurement_source_concept_id,unit_source_value,unit_source_concept_id,value_source_value,measurement_event_id,meas_event_field_concept_id",
				people.flatMap((at) =>
					tests.map((date, test) => ({
						...{ measurement_id: 10 * at + test, person_id: at, measurement_concept_id: 3_004_501 },
						measurement_date: `${year(at)}-${date}`,
						value_as_number: (test % 2 ? 18 : 1) * glucose(at, test),
						unit_concept_id: test % 2 ? 8840 : 8753,
					})),
				),
			),
			"cdm/concept.csv": csv(
				"concept_id,concept_name,domain_id,vocabulary_id,concept_class_id,standard_concept,concept_code,valid_start_date,valid_end_date,invalid_reason",
				concepts.map(([id, name, vocabulary, code]) => ({
					...{ concept_id: id, concept_name: name, vocabulary_id: vocabulary, concept_code: code },
				})),
			),
		},
		source: "cdm",
		from: "omop",
		reading: "--measurements --source-system icd10",
		cohort: "--values quantiles:2",
		expected: {
			records: 100,
			mapped: 20,
			patients: 20,
			notes: [/measurement: 80 rows: 100.0 % LOINC/],
			ranges: [/^Glucose > [\d.]+ mg\/dL \(quantile 2 of 2\)$/, /^Glucose ≤ [\d.]+ mmol\/L /],
			names: ["Diabetes mellitus"],
		},
		patient: "4",
		at: "+6m",
	},
	{
		name: "MEDS with numeric values",
		files: {
			"meds/data/0.parquet": csv(
				"subject_id,time,code,numeric_value,text_value",
				people.flatMap((at) => [
					{
						...{ subject_id: at, time: `${year(at)}-01-${day(at)}T08:00:00` },
						code: "DIAGNOSIS//ICD//10//E119",
					},
					...tests.map((date, test) => ({
						...{ subject_id: at, time: `${year(at)}-${date}T07:30:00` },
						...{ code: "LAB//50931//mg/dL", numeric_value: 18 * glucose(at, test) },
					})),
				]),
			),
		},
		source: "meds",
		from: "meds",
		reading: "--kinds diagnosis,laboratory",
		cohort: "--values quantiles:4",
		expected: {
			records: 100,
			mapped: 20,
			patients: 20,
			notes: [],
			ranges: [/^LAB\/\/50931\/\/mg\/dL [\d.]+–[\d.]+ \(quantile 3 of 4\)$/],
			names: ["Diabetes mellitus"],
		},
		patient: "4",
		at: "+30d",
	},
	{
		name: "FHIR with Observations",
		files: {
			"bulk/export.ndjson": people
				.flatMap((at) => {
					const subject = { reference: `Patient/${at}` };
					return [
						{
							...{ resourceType: "Patient", id: `${at}`, gender: at % 2 ? "female" : "male" },
							birthDate: `${1940 + at}-02-03`,
						},
						{
							...{ resourceType: "Condition", id: `c${at}`, subject },
							onsetDateTime: `${year(at)}-01-${day(at)}`,
							code: coding("http://hl7.org/fhir/sid/icd-10-cm", "E11.9", "Diabetes"),
						},
						...tests.map((date, test) => ({
							...{ resourceType: "Observation", id: `o${at}-${test}`, status: "final", subject },
							effectiveDateTime: `${year(at)}-${date}T07:30:00Z`,
							code: coding("http://loinc.org", "2345-7", "Glucose"),
							valueQuantity: { value: glucose(at, test), unit: "mmol/l", code: "mmol/L" },
						})),
						{
							...{ resourceType: "Observation", id: `b${at}`, status: "final", subject },
							effectiveDateTime: `${year(at)}-02-01`,
							code: coding("http://loinc.org", "85354-9", "Blood pressure"),
							component: [
								{
									code: coding("http://loinc.org", "8480-6", "Systolic blood pressure"),
									valueQuantity: { value: 110 + at, unit: "mm[Hg]" },
								},
							],
						},
					].map((resource) => `${JSON.stringify(resource)}\n`);
				})
				.join(""),
		},
		source: "bulk",
		from: "fhir",
		reading: "--measurements",
		cohort: "--values quantiles:3",
		expected: {
			records: 120,
			mapped: 20,
			patients: 20,
			notes: [],
			ranges: [
				/^Glucose [\d.]+–[\d.]+ mmol\/L \(quantile 2 of 3\)$/,
				/^Systolic blood pressure > \d+ mm\[Hg\] \(quantile 3 of 3\)$/,
			],
			names: ["Diabetes mellitus"],
		},
		patient: "4",
		at: "+6m",
	},
];

const extracts: readonly Extract[] = [
	synthea,
	{
		...synthea,
		name: "Synthea CSV with a map of SNOMED",
		files: {
			...synthea.files,
			"map.csv": "SNOMED,PheCode\n44054006,250.2\n59621000,401.1\n",
		},
		reading: `${synthea.reading} --phecode-map map.csv`,
		expected: { ...synthea.expected, mapped: 40, names: ["Diabetes mellitus", "Hypertension"] },
	},
	{
		name: "eICU",
		files: {
			"patient.csv": csv(
				"patientunitstayid,patienthealthsystemstayid,gender,age,ethnicity,hospitalid,wardid,apacheadmissiondx,admissionheight,hospitaladmittime24,hospitaladmitoffset,hospitaladmitsource,hospitaldischargeyear,hospitaldischargetime24,hospitaldischargeoffset,hospitaldischargelocation,hospitaldischargestatus,unittype,unitadmittime24,unitadmitsource,unitvisitnumber,unitstaytype,admissionweight,dischargeweight,unitdischargetime24,unitdischargeoffset,unitdischargelocation,unitdischargestatus,uniquepid",
				people.map((at) => ({
					patientunitstayid: 140000 + at,
					gender: at === 1 ? "Unknown" : at % 2 ? "Female" : "Male",
					age: at === 2 ? "> 89" : 40 + at,
				})),
			),
			"diagnosis.csv": csv(
				"diagnosisid,patientunitstayid,activeupondischarge,diagnosisoffset,diagnosisstring,icd9code,diagnosispriority",
				people.flatMap((at) =>
					[
						[15, "491.20, J44.9"],
						[720, "428.0, I50.9"],
						[1500, ""],
					].map(([diagnosisoffset = 0, icd9code = ""]) => ({
						...{ diagnosisid: at, patientunitstayid: 140000 + at, activeupondischarge: "True" },
						...{ diagnosisoffset, icd9code, diagnosispriority: "Primary" },
					})),
				),
			),
		},
		source: "diagnosis.csv",
		from: "csv",
		reading: "--separator , --system icd --people patient.csv --age age",
		cohort: "--dedup day",
		expected: {
			records: 80,
			mapped: 80,
			patients: 20,
			notes: [
				/time is diagnosisoffset \(minutes\), code is icd9code \(ICD9CM or ICD10CM by form\)/,
				/20 rows have no code: left out/,
				/sex is gender \(9 female, 10 male, 1 unknown\), birth is age before time 0 \(age-years\) \(20 known\)/,
			],
			names: ["Congestive heart failure; nonhypertensive"],
			usualTimes: ["+1h", "+6h", "+24h"],
		},
		patient: "140005",
		at: "+12h",
	},
	{
		name: "pyPheWAS",
		files: {
			"group.csv": csv(
				"id,genotype,MaxAgeAtICD,sex",
				people.map((at) => ({
					...{ id: at, genotype: at % 2, MaxAgeAtICD: 60, sex: at % 2 ? "F" : "M" },
				})),
			),
			"icds.csv": csv(
				"id,ICD_CODE,ICD_TYPE,AgeAtICD",
				people.flatMap((at) => [
					{ id: at, ICD_CODE: "401.9", ICD_TYPE: 9, AgeAtICD: 40.25 + at / 10 },
					{ id: at, ICD_CODE: "E11.9", ICD_TYPE: 10, AgeAtICD: 51.5 + at / 10 },
				]),
			),
		},
		source: "icds.csv",
		from: "csv",
		reading: "--people group.csv",
		expected: {
			records: 40,
			mapped: 40,
			patients: 20,
			notes: [/time is AgeAtICD \(age-years\), code is ICD_CODE \(system is ICD_TYPE\)/],
			names: ["Hypertension", "Diabetes mellitus"],
		},
		patient: "9",
		at: "age:55",
	},
	{
		name: "MIMIC-IV hosp",
		files: {
			"hosp/patients.csv": csv(
				"subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod",
				people.map((at) => ({
					...{ subject_id: 10_000_000 + at, gender: at % 2 ? "F" : "M", anchor_age: 30 + at },
					...{ anchor_year: 2150, anchor_year_group: "2011 - 2013" },
					...(at === 5 && { dod: "2153-09-09" }),
				})),
			),
			"hosp/admissions.csv": csv(
				"subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admit_provider_id,admission_location,discharge_location,insurance,language,marital_status,race,edregtime,edouttime,hospital_expire_flag",
				people.flatMap((at) =>
					[1, 2].map((visit) => ({
						...{ subject_id: 10_000_000 + at, hadm_id: 20_000_000 + 10 * at + visit },
						admittime: `215${visit}-05-${day(at)} 22:23:00`,
					})),
				),
			),
			"hosp/diagnoses_icd.csv": csv(
				"subject_id,hadm_id,seq_num,icd_code,icd_version",
				people.flatMap((at) =>
					[
						[1, "4019", 9],
						[1, "25000", 9],
						[2, "I509", 10],
						[2, "Z3A20", 10],
					].map(([visit = 1, icd_code = "", icd_version = 9], place) => ({
						...{ subject_id: 10_000_000 + at, hadm_id: 20_000_000 + 10 * at + Number(visit) },
						...{ seq_num: 1 + (place % 2), icd_code, icd_version },
					})),
				),
			),
			"hosp/d_icd_diagnoses.csv": csv("icd_code,icd_version,long_title", [
				{ icd_code: "4019", icd_version: 9, long_title: "Unspecified essential hypertension" },
				{ icd_code: "Z3A20", icd_version: 10, long_title: "20 weeks, counted from conception" },
			]),
			"hosp/prescriptions.csv": csv(
				"subject_id,hadm_id,pharmacy_id,poe_id,poe_seq,order_provider_id,starttime,stoptime,drug_type,drug,formulary_drug_cd,gsn,ndc,prod_strength,form_rx,dose_val_rx,dose_unit_rx,form_val_disp,form_unit_disp,doses_per_24_hrs,route",
				[
					{ subject_id: 10_000_001, hadm_id: 20_000_011, drug: "Furosemide", ndc: "0" },
					...people.map((at) => ({
						...{ subject_id: 10_000_000 + at, hadm_id: 20_000_000 + 10 * at + 1 },
						...{ starttime: `2151-05-${day(at)} 23:00:00`, drug: "Furosemide" },
						...{ ndc: at % 2 ? "00517570425" : "0" },
					})),
				],
			),
		},
		source: "hosp/diagnoses_icd.csv",
		from: "csv",
		reading:
			"--join hosp/admissions.csv --on hadm_id --people hosp/patients.csv --drugs-file hosp/prescriptions.csv --names hosp/d_icd_diagnoses.csv",
		cohort: "--unmapped keep",
		expected: {
			records: 100,
			mapped: 60,
			patients: 20,
			notes: [
				/time is admittime of .*admissions\.csv \(date\)/,
				/birth is the year in anchor_year - anchor_age \(1 July\) \(20 known\), death is dod \(1 known\)/,
				/1 row has no time: left out/,
				/10 rows have no ndc: known by name instead/,
			],
			names: ["Congestive heart failure; nonhypertensive", "20 weeks, counted from conception"],
		},
		patient: "10000008",
		at: "2153-06-01",
	},
	...withValues,
];

/** Flags of `prepare` that have longer names in `forecast`. */
const longer = new Set(["--patient", "--time", "--code"]);

test.each(extracts)("$name: from raw files to a forecast", async (extract) => {
	const root = await temporaryFolder();
	const [dataset, run] = [join(root, "dataset"), join(root, "run")];
	for (const [name, content] of Object.entries(extract.files)) {
		const file = join(root, name);
		await mkdir(dirname(file), { recursive: true });
		if (!name.endsWith(".parquet")) await writeFile(file, content);
		else {
			await writeFile(join(root, "text.csv"), content);
			await writeParquet(file, `SELECT * FROM read_csv('${join(root, "text.csv")}')`);
		}
	}
	/** The words of a text; names of files and folders become their paths. */
	const placed = (text: string) =>
		text.split(" ").map((word) => {
			const isPlaced = (name: string) => name === word || name.startsWith(`${word}/`);
			return Object.keys(extract.files).some(isPlaced) ? join(root, word) : word;
		});
	const source = placed(extract.source);
	const reading = placed(extract.reading);
	const { expected, from, cohort = "--keep last" } = extract;

	const manifest =
		await json`prepare ${source} --from ${from} ${reading} ${cohort.split(" ")} --min-count 1 --splits 60,20,20 --out ${dataset}`;
	expect(manifest.source.records).toBe(expected.records);
	expect(manifest.codes.mapped).toBe(expected.mapped);
	expect(manifest.counts.patients).toBe(expected.patients);
	for (const note of expected.notes) expect(manifest.source.notes.join("\n")).toMatch(note);
	expect(manifest.source.warnings ?? []).toEqual([]);
	await done`pretrain ${dataset} --out ${run} --no-hazards --epochs 1 --threads 1 ${smallModel}`;

	// A model that knows laboratory results reads those of new patients without the option.
	const again = reading.filter((word) => word !== "--measurements");
	const renamed = again.map((word) => (longer.has(word) ? `${word}-column` : word));
	const forecast = words`forecast ${run} --input ${source} --format ${from} ${renamed} --patient ${extract.patient}`;
	if (expected.usualTimes) {
		const [{ answers }] = (await json`${forecast}`).patients;
		expect(column(answers, "at")).toEqual(expected.usualTimes);
	}
	const { patients, unknown } = await json`${forecast} --at ${extract.at} --top 100`;
	expect(column(patients, "id")).toEqual([extract.patient]);
	expect(unknown.records).toBe(0);
	const names = JSON.stringify(patients[0]);
	for (const name of expected.names) expect(names).toContain(JSON.stringify(name));
	const top: { readonly name: string }[] = patients[0].answers[0].top;
	for (const range of expected.ranges ?? [])
		expect(top.filter(({ name }) => range.test(name))).toHaveLength(1);
});
