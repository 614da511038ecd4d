import { expect, test } from "vitest";
import { trueIncidence } from "../../../src/data/simulate/cumulative-incidence.js";
import { simulatePatient } from "../../../src/data/simulate/patients.js";
import { codes } from "../../../src/data/simulate/tables.js";
import { trueRisks } from "./true-risks.js";

test("true risks are those of the reference model; codes that are recorded or unknown have none", () => {
	const [seed, person, days] = [3, 7, [365, 1826]] as const;
	const patient = simulatePatient(seed, person);
	const date = patient.person.coverage[0]![0] + 1000.7;
	const recorded = patient.claims.find(({ day }) => day <= date)!;
	const known = new Set(patient.claims.filter(({ day }) => day <= date).map(({ at }) => at));
	const other = codes.findIndex((_, at) => !known.has(at));
	const found = trueRisks({
		...{ seed, person, date, days },
		codes: [codes[recorded.at]!, codes[other]!, "no code"],
	});
	const { codes: expected } = trueIncidence(patient, Math.floor(date), days, { futures: 256 });
	expect(found[0]).toBeNull();
	expect(found[1]).toEqual(days.map((_, at) => expected[at * codes.length + other]));
	expect(found[2]).toBeNull();
});
