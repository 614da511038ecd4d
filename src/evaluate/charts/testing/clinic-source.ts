import { random } from "../../../base/random.js";
import type { RecordRow } from "../../../data/records/rows.js";
import type { RecordSource } from "../../../data/records/store.js";

/** code, name, category, weight */
const codes = `
401 | Hypertension | circulatory system | 40
272 | Disorders of lipoid metabolism | endocrine/metabolic | 30
250 | Diabetes mellitus | endocrine/metabolic | 14
745 | Pain in joint and other disorders of joint, not elsewhere classified | musculoskeletal | 22
760 | Back pain | musculoskeletal | 20
465 | Acute upper respiratory infections of multiple or unspecified sites | respiratory | 26
495 | Asthma | respiratory | 10
300 | Anxiety, phobic and dissociative disorders | mental disorders | 17
296 | Mood disorders | mental disorders | 15
530 | Diseases of esophagus | digestive | 12
367 | Disorders of refraction and accommodation; blindness and low vision | sense organs | 18
366 | Cataract | sense organs | 7
686 | Other local infections of skin and subcutaneous tissue | dermatologic | 6
706 | Diseases of sebaceous glands | dermatologic | 5
599 | Other symptoms/disorders of the urinary system | genitourinary | 11
585 | Renal failure | genitourinary | 5
428 | Congestive heart failure; nonhypertensive | circulatory system | 3
411 | Ischemic heart disease | circulatory system | 8
427 | Cardiac dysrhythmias | circulatory system | 6
244 | Hypothyroidism | endocrine/metabolic | 9
278 | Overweight, obesity and other hyperalimentation | endocrine/metabolic | 12
339 | Other headache syndromes | neurological | 8
340 | Migraine | neurological | 5
345 | Epilepsy, recurrent seizures, convulsions | neurological | 2
038 | Septicemia | infectious diseases | 1
079 | Viral infection | infectious diseases | 5
172 | Skin cancer | neoplasms | 2
174 | Breast cancer | neoplasms | 2
285 | Other anemias | hematopoietic | 6
740 | Osteoarthrosis | musculoskeletal | 10
`
	.trim()
	.split("\n")
	.map((line) => line.split(" | "))
	.map(([code, name, category, weight]) => ({ code, name, category, weight: Number(weight) }));

/** Invented people with visits at irregular times, most codes recurring; drugs only as far as a label needs. */
export function clinicSource(patients: number, { births = true } = {}): RecordSource {
	return {
		format: "csv",
		path: "clinic.csv",
		async load(store) {
			const all = random(7);
			const records: RecordRow[] = [];
			const people = [];
			for (let i = 0; i < patients; i++) {
				const rng = all.fork(i);
				const patient = `p${String(i).padStart(5, "0")}`;
				const birth = Math.floor(-16_000 + 24_000 * rng.uniform());
				const own = codes.filter(({ weight }) => rng.uniform() < 0.06 + weight / 60);
				const pool = own.length > 0 ? own : codes.slice(0, 1);
				const visits = Math.ceil(Math.exp(1.8 + 0.9 * rng.normal()));
				let time = Math.floor(12_000 + 3000 * rng.uniform());
				for (let visit = 0; visit < visits; visit++) {
					for (let n = 1 + rng.integer(3); n > 0; n--) {
						const { code } = pool[rng.integer(pool.length)];
						const diagnosis = { system: "PheCode", kind: "diagnosis", value: null } as const;
						records.push({ patient, time, code, ...diagnosis });
						if (code === "250" && rng.uniform() < 0.06) {
							const drug = { code: "A10AB01", system: "ATC", kind: "drug", value: null } as const;
							records.push({ patient, time: time + 20, ...drug });
						}
					}
					time += Math.ceil(Math.exp(4 + 1.4 * rng.normal()));
				}
				people.push({
					patient,
					birth: births && rng.uniform() < 0.97 ? birth : null,
					sex: rng.uniform() < 0.53 ? ("female" as const) : ("male" as const),
					death: null,
					split: null,
					place: `clinic: ${patient}`,
				});
			}
			await store.append("record", records);
			await store.append("person", people);
			await store.append(
				"code_name",
				codes.map(({ weight: _, ...code }) => ({ ...code, system: "PheCode", kind: null })),
			);
			return { axis: "dates", notes: ["3 rows had no date: left out"] };
		},
	};
}
