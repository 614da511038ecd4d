import { random } from "../../base/random.js";
import { drawPerson, type OracleHistory, type Person } from "./person.js";
import { type Prescription, pharmacy, subCode } from "./prescriptions.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { conditions } from "./tables.js";

/** One record of a visit: a position in the catalogue and its ICD-9-CM code. */
export interface Claim {
	readonly day: number;
	readonly at: number;
	readonly icd9: string;
}

export interface SimulatedPatient {
	readonly id: string;
	readonly person: Person;
	readonly death: number | null;
	readonly claims: readonly Claim[];
	readonly prescriptions: readonly Prescription[];
}

function patientId(number: number): string {
	return `p${String(number).padStart(6, "0")}`;
}

/** The number in an id; undefined if it is not an id of the simulator. */
export function patientNumber(id: string): number | undefined {
	const number = Number(/^p(\d{6,})$/.exec(id)?.[1]);
	return number >= 1 && patientId(number) === id ? number : undefined;
}

/** The input of the oracle: all records up to and including a day. */
export function simulatedHistory(
	{ person, claims }: SimulatedPatient,
	upTo = Number.POSITIVE_INFINITY,
): OracleHistory {
	const events = claims
		.filter(({ day }) => day <= upTo)
		.map(({ day, at }) => ({ day, code: conditions[at].code }));
	return { ...person, events };
}

/** Simulates patient `number` (from 1) of a seed; the same in a population of any size. */
export function simulatePatient(seed: number, number: number): SimulatedPatient {
	const stream = random(seed).fork(number);
	const person = drawPerson(stream.fork("person"));
	const drugs = pharmacy(person, stream.fork("drugs"));
	const codes = stream.fork("codes");
	const claims: Claim[] = [];
	const prescriptions: Prescription[] = [];
	const state = new State();
	state.begin(person);
	const from = person.coverage[0][0];
	const until = person.coverage.at(-1)![1] + 1;
	const death = simulateLife(state, stream.fork("life"), from, until, (day, visit, length) => {
		prescriptions.push(...drugs.prescribe(day, visit, length));
		const onInsulin = drugs.onInsulin();
		for (let i = 0; i < length; i++) {
			const at = visit[i];
			claims.push({ day, at, icd9: subCode(at, state, day, onInsulin, codes) });
		}
	});
	return { id: patientId(number), person, death, claims, prescriptions };
}
