/*
 * Facts from the documentation of ACES (github.com/justin13601/ACES): the records of its sample data and of its worked
 * examples on MEDS, and the labels that it says they have. Each line is a time and the codes recorded then; a line
 * without a time has static records.
 */

/** `sample_data/sample_data.csv`; the codes are the columns of that table. */
export const sampleData: Readonly<Record<number, string>> = {
	1: `
		: male
		1989-12-01 12:03: admission
		1989-12-01 13:14: lab spo2 normal_spo2
		1989-12-01 15:17: lab spo2 normal_spo2
		1989-12-01 16:17: lab spo2 normal_spo2
		1989-12-01 20:17: lab spo2 normal_spo2
		1989-12-02 03:00: lab spo2 normal_spo2
		1989-12-02 09:00: other
		1989-12-02 10:00: procedure_start ventilation
		1989-12-02 14:22: procedure_end ventilation
		1989-12-02 15:00: discharge
		1991-01-21 11:59: diagnosis_ICD9CM_41071
		1991-01-27 23:32: admission
		1991-01-27 23:46: lab spo2 normal_spo2
		1991-01-28 03:18: lab
		1991-01-28 03:28: procedure_start ventilation
		1991-01-28 04:36: lab spo2 normal_spo2
		1991-01-29 23:32: lab spo2 normal_spo2
		1991-01-30 05:00: lab
		1991-01-30 08:00: lab spo2 abnormally_high_spo2
		1991-01-30 11:00: lab spo2 normal_spo2
		1991-01-30 14:00: other
		1991-01-30 14:15: lab
		1991-01-31 01:00: procedure_end ventilation
		1991-01-31 02:15: discharge
		1991-02-08 08:15: lab spo2 normal_spo2
		1991-03-03 19:33: admission
		1991-03-03 20:33: lab spo2 abnormally_low_spo2
		1991-03-03 21:38: death`,
	2: `
		: female
		1996-03-08 02:24: admission
		1996-03-08 02:35: lab spo2 normal_spo2
		1996-03-08 04:00: lab spo2 normal_spo2
		1996-03-08 10:00: other
		1996-03-08 16:00: discharge
		1996-06-05 00:32: admission
		1996-06-05 00:48: diagnosis_ICD10CM_I214
		1996-06-05 01:59: procedure_start ventilation
		1996-06-07 06:00: lab
		1996-06-07 09:00: lab spo2 abnormally_low_spo2
		1996-06-07 12:00: lab spo2 normal_spo2
		1996-06-07 15:00: procedure_end ventilation
		1996-06-08 03:00: death`,
	3: `
		: male
		1996-03-08 02:22: procedure_start ventilation
		1996-03-08 02:24: admission
		1996-03-08 02:37: lab spo2 normal_spo2
		1996-03-09 08:00: lab
		1996-03-09 11:00: lab spo2 normal_spo2
		1996-03-09 19:00: lab spo2 normal_spo2
		1996-03-09 22:00: other
		1996-03-11 21:00: procedure_end ventilation
		1996-03-12 00:00: death`,
};

/** The records of `tests/test_other_meds.py`. */
export const medsData: Readonly<Record<number, string>> = {
	1: `
		: GENDER//MALE SNP//rs234567
		1960-12-18 11:03: MEDS_BIRTH
		1972-08-02 10:00: CLINIC_VISIT ICD9CM//493.90 LOINC//8310-5 VITALS//BP//SYSTOLIC
		2020-01-14 15:14: ADMISSION//MEDICAL
		2020-01-14 15:18: VITALS//BP//SYSTOLIC VITALS//BP//DIASTOLIC VITALS//HR//BPM VITALS//WEIGHT//LBS
		2020-01-15 10:04: VITALS//BP//SYSTOLIC VITALS//BP//DIASTOLIC VITALS//HR//BPM
		2020-01-16 10:11: VITALS//BP//SYSTOLIC VITALS//BP//DIASTOLIC VITALS//HR//BPM
		2020-01-16 13:02: LVEF//ECHO
		2020-01-17 10:00: ICD9CM//428.9 DISCHARGE//HOME
		2022-01-18 04:46: ADMISSION//MEDICAL
		2022-01-20 08:00: DISCHARGE//HOME_AMA ICD9CM//428.41 ICD9CM//451.1
		2022-01-24 08:11: ADMISSION//ED
		2022-01-25 10:04: VITALS//BP//SYSTOLIC VITALS//BP//DIASTOLIC VITALS//HR//BPM
		2022-02-27 01:13: ICD9CM//428.41 ICD9CM//410.1 DEATH`,
	3: `
		: GENDER//FEMALE SNP//rs2345291 SNP//rs228192
		1982-02-28 00:00: MEDS_BIRTH
		2020-01-14 15:14: ADMISSION//MEDICAL
		2020-01-14 15:18: VITALS//BP//SYSTOLIC VITALS//BP//DIASTOLIC VITALS//HR//BPM
		2020-01-17 10:00: ICD9CM//V30.00 DISCHARGE//HOME
		2020-01-18 18:18: ADMISSION//MEDICAL
		2020-01-20 15:18: DISCHARGE//HOME
		2024-03-18 16:54: ICD9CM//428.9
		2024-03-18 17:11: ADMISSION//SURGICAL
		2024-03-28 10:00: DISCHARGE//HOME
		2024-03-29 11:00: ADMISSION//SURGICAL
		2024-04-19 13:32: DISCHARGE//HOME
		2024-05-22 00:00: ICD9CM//428.9`,
};

/** The windows of in-hospital mortality, a sample task of ACES. */
const mortalityWindows = `
trigger: admission
windows:
  input: {start: null, end: trigger + 24h, start_inclusive: true, end_inclusive: true, has: {_ANY_EVENT: "(5, None)"}, index_timestamp: end}
  gap: {start: trigger, end: start + 48h, start_inclusive: false, end_inclusive: true, has: {admission: "(None, 0)", discharge: "(None, 0)", death: "(None, 0)"}}
  target: {start: gap.end, end: start -> discharge_or_death, start_inclusive: false, end_inclusive: true, label: death}
`;

/** Tasks with the labels that the documentation gives: subject, prediction time, value. */
export const documented: readonly {
	readonly name: string;
	readonly data: Readonly<Record<number, string>>;
	readonly yaml: string;
	readonly labels: readonly (readonly [number, string, boolean])[];
}[] = [
	{
		name: "in-hospital mortality of men, sample data",
		data: sampleData,
		yaml: `
predicates:
  admission: {code: admission}
  discharge: {code: discharge}
  death: {code: death}
  discharge_or_death: {expr: "or(discharge, death)"}
patient_demographics:
  male: {code: male}
${mortalityWindows}`,
		labels: [[1, "1991-01-28 23:32", false]],
	},
	{
		name: "in-hospital mortality, MEDS",
		data: medsData,
		yaml: `
predicates:
  admission: {code: {regex: ADMISSION//.*}}
  discharge: {code: {regex: DISCHARGE//.*}}
  death: {code: DEATH}
  discharge_or_death: {expr: "or(discharge, death)"}
${mortalityWindows}`,
		labels: [
			[1, "2020-01-15 15:14", false],
			[1, "2022-01-19 04:46", false],
			[1, "2022-01-25 08:11", true],
			[3, "2024-03-19 17:11", false],
			[3, "2024-03-30 11:00", false],
		],
	},
	{
		name: "readmission after heart failure, MEDS",
		data: medsData,
		yaml: `
predicates:
  admission: {code: {regex: ADMISSION//.*}}
  discharge: {code: {regex: DISCHARGE//.*}}
  HF_dx: {code: {regex: ICD9CM//428.*}}
trigger: discharge
windows:
  data_within_5yr_of_admit: {start: end - 1825d, end: admission_is_HF.start, start_inclusive: true, end_inclusive: false, has: {_ANY_EVENT: "(1, None)"}}
  admission_is_HF: {start: end <- admission, end: trigger, start_inclusive: true, end_inclusive: true, has: {HF_dx: "(1, None)"}}
  input: {start: null, end: trigger, start_inclusive: true, end_inclusive: true, index_timestamp: end}
  target: {start: input.end, end: start + 30d, start_inclusive: false, end_inclusive: true, label: admission}
  censor_protection: {start: target.end, end: null, start_inclusive: false, end_inclusive: true, has: {_ANY_EVENT: "(1, None)"}}`,
		labels: [[1, "2022-01-20 08:00", true]],
	},
	{
		name: "readmission with nested predicates, MEDS",
		data: medsData,
		yaml: `
predicates:
  emergency: {code: ADMISSION//ED}
  surgical: {code: ADMISSION//SURGICAL}
  medical: {code: ADMISSION//MEDICAL}
  admission: {expr: "or(emergency, surgical, medical)"}
  home: {code: DISCHARGE//HOME}
  against_advice: {code: DISCHARGE//HOME_AMA}
  discharge: {expr: "or(home, against_advice)"}
  death: {code: DEATH}
  discharge_or_death: {expr: "or(discharge, death)"}
trigger: discharge
windows:
  data_within_5yr_of_admit: {start: end - 1825d, end: prior_admission.start, start_inclusive: true, end_inclusive: false, has: {_ANY_EVENT: "(1, None)"}}
  prior_admission: {start: end <- admission, end: trigger, start_inclusive: true, end_inclusive: false, has: {discharge_or_death: "(None, 0)"}}
  input: {start: null, end: trigger, start_inclusive: true, end_inclusive: true, index_timestamp: end}
  target: {start: input.end, end: start + 30d, start_inclusive: false, end_inclusive: true, label: admission}
  censor_protection: {start: target.end, end: null, start_inclusive: false, end_inclusive: true, has: {_ANY_EVENT: "(1, None)"}}`,
		labels: [
			[1, "2022-01-20 08:00", true],
			[3, "2020-01-20 15:18", false],
			[3, "2024-03-28 10:00", true],
			[3, "2024-04-19 13:32", false],
		],
	},
];

/** The other sample tasks of ACES on its sample data, for which it gives no labels: worked out by hand. */
export const workedOut: readonly {
	readonly name: string;
	readonly yaml: string;
	/** Subject, prediction time, value. */
	readonly labels: readonly (readonly [number, string, boolean | null])[];
}[] = [
	{
		name: "readmission risk",
		yaml: `
predicates: {admission: {code: admission}, discharge: {code: discharge}}
trigger: admission
windows:
  input: {start: trigger, end: start -> discharge, start_inclusive: false, end_inclusive: true, index_timestamp: end}
  target: {start: input.end, end: start + 30 days, start_inclusive: false, end_inclusive: true, label: admission}`,
		labels: [
			[1, "1989-12-02 15:00", false],
			[1, "1991-01-31 02:15", false],
			[2, "1996-03-08 16:00", false],
		],
	},
	{
		name: "abnormal lab",
		yaml: `
predicates:
  spo2: {code: spo2}
  normal_spo2: {code: normal_spo2}
  low: {code: abnormally_low_spo2}
  high: {code: abnormally_high_spo2}
  abnormal_spo2: {expr: "or(low, high)"}
trigger: normal_spo2
windows:
  input: {start: null, end: trigger, start_inclusive: true, end_inclusive: true, index_timestamp: end}
  gap: {start: trigger, end: start + 24h, start_inclusive: false, end_inclusive: true}
  target: {start: gap.end, end: start + 7 days, start_inclusive: false, end_inclusive: true, has: {spo2: "(1, None)"}, label: abnormal_spo2}`,
		labels: [
			[1, "1991-01-27 23:46", true],
			[1, "1991-01-28 04:36", true],
			[3, "1996-03-08 02:37", false],
		],
	},
	{
		name: "long-term recurrence",
		yaml: `
predicates:
  admission: {code: admission}
  discharge: {code: discharge}
  icd9: {code: diagnosis_ICD9CM_41071}
  icd10: {code: diagnosis_ICD10CM_I214}
  infarction: {expr: "or(icd9, icd10)"}
trigger: discharge
windows:
  input: {start: end <- admission, end: trigger, start_inclusive: false, end_inclusive: true, index_timestamp: end}
  gap: {start: trigger, end: start + 365 days, start_inclusive: false, end_inclusive: true, has: {infarction: "(None, 0)"}}
  target: {start: gap.end, end: start + 1095 days, start_inclusive: false, end_inclusive: true, label: infarction}`,
		labels: [
			[1, "1989-12-02 15:00", true],
			[1, "1991-01-31 02:15", false],
		],
	},
	{
		name: "weaning from ventilation, which has no label",
		yaml: `
predicates:
  procedure_start: {code: procedure_start}
  procedure_end: {code: procedure_end}
  ventilation: {code: ventilation}
  ventilation_start: {expr: "and(procedure_start, ventilation)"}
  ventilation_end: {expr: "and(procedure_end, ventilation)"}
trigger: ventilation_start
windows:
  input: {start: null, end: trigger, start_inclusive: true, end_inclusive: true, index_timestamp: end}
  target: {start: trigger, end: start -> ventilation_end, start_inclusive: false, end_inclusive: true}`,
		labels: [
			[1, "1989-12-02 10:00", null],
			[1, "1991-01-28 03:28", null],
			[2, "1996-06-05 01:59", null],
			[3, "1996-03-08 02:22", null],
		],
	},
];

/** Asked two hours after every event: death in the 24 hours that follow. The positive labels. */
export const imminentMortality = {
	yaml: `
predicates: {death: {code: death}}
trigger: _ANY_EVENT
windows:
  gap: {start: trigger, end: start + 2 hours, start_inclusive: true, end_inclusive: true, index_timestamp: end}
  target: {start: gap.end, end: start + 24 hours, start_inclusive: false, end_inclusive: true, label: death}`,
	positive: [
		[1, "1991-03-03 21:33"],
		[2, "1996-06-07 08:00"],
		[2, "1996-06-07 11:00"],
		[2, "1996-06-07 14:00"],
		[2, "1996-06-07 17:00"],
		[3, "1996-03-11 23:00"],
	],
} as const;

/** Microseconds since 1970-01-01 of `1991-01-28 23:32`. */
export const microseconds = (text: string): number => Date.parse(`${text}Z`) * 1000;

/** SQL for the rows of MEDS. */
export const medsSql = (data: Readonly<Record<number, string>>): string =>
	Object.entries(data)
		.flatMap(([subject, text]) =>
			text
				.trim()
				.split("\n")
				.flatMap((line) => {
					const [, time = "", codes = ""] = /^\s*(.*?): (.*)$/.exec(line) ?? [];
					const at = time ? `TIMESTAMP '${time}:00'` : "CAST(NULL AS TIMESTAMP)";
					return codes
						.split(" ")
						.map(
							(code) =>
								`SELECT ${subject}::BIGINT AS subject_id, ${at} AS time, '${code}' AS code, CAST(NULL AS FLOAT) AS numeric_value`,
						);
				}),
		)
		.join(" UNION ALL ");
