import type { Random } from "../base/random.js";
import { random } from "../base/random.js";
import type { Sex } from "../records/rows.js";
import type { Condition } from "./conditions.js";
import { conditions, hazard } from "./conditions.js";

/** One line of an event list, as `prepare --from events` reads it. Times are whole days since 2000. */
export interface SimulatedHistory {
	readonly id: string;
	readonly birth: number;
	readonly sex: Sex;
	readonly types: readonly string[];
	readonly times: readonly number[];
}

export interface SimulateOptions {
	readonly patients: number;
	readonly seed: number;
}

const year = 365.25;
/** Onsets are drawn once a step, from the state at its start. */
const stepDays = year / 4;
/** The chance that a visit also codes another chronic condition of the person. */
const alsoCoded = 0.08;

/** Each patient has a random stream of their own: patient 17 is the same in a population of any size. */
export function* simulateHistories({
	patients,
	seed,
}: SimulateOptions): Generator<SimulatedHistory> {
	for (let number = 1; number <= patients; number++)
		yield simulatePatient(`p${String(number).padStart(6, "0")}`, random(seed).fork(number));
}

interface Person {
	readonly sex: Sex;
	/** Days since 2000, as are all times here. */
	readonly birth: number;
	readonly coveredFrom: number;
	readonly coveredTo: number;
	/** A factor on the hazards of each category: what runs in the family, or how one lives. */
	readonly frailty: ReadonlyMap<string, number>;
	/** How much later than asked this person comes to follow-up. */
	readonly delay: number;
}

function drawPerson(stream: Random): Person {
	const frailty = new Map<string, number>();
	for (const { category } of conditions)
		if (!frailty.has(category)) frailty.set(category, logNormal(stream, 0.7));
	const coveredFrom = Math.floor(stream.uniform() * 10 * year);
	const age = 5 + 70 * stream.uniform();
	const birth = Math.floor(coveredFrom - age * year);
	const death = birth + year * gompertzAge(stream, age);
	const covered = (5 + 15 * stream.uniform()) * year;
	return {
		sex: stream.uniform() < 0.52 ? "female" : "male",
		birth,
		coveredFrom,
		coveredTo: Math.floor(Math.min(coveredFrom + covered, death)),
		frailty,
		delay: logNormal(stream, 0.3),
	};
}

/** Age at death, given that `age` was reached: mortality 2e-5 a year at birth, times e^0.1 a year. */
function gompertzAge(stream: Random, age: number): number {
	const [rate, growth] = [2e-5, 0.1];
	return Math.log(Math.exp(growth * age) + (growth / rate) * exponential(stream)) / growth;
}

function simulatePatient(id: string, stream: Random): SimulatedHistory {
	const person = drawPerson(stream.fork("person"));
	const onsets = drawOnsets(person, stream.fork("onsets"));
	const records = drawRecords(person, onsets, stream.fork("records"))
		.filter(({ time }) => time >= person.coveredFrom && time <= person.coveredTo)
		.sort((a, b) => a.time - b.time);
	return {
		id,
		birth: person.birth,
		sex: person.sex,
		types: records.map(({ condition }) => condition.code),
		times: records.map(({ time }) => time),
	};
}

interface Onset {
	readonly condition: Condition;
	readonly time: number;
}

/** Lives the whole life from birth, so that what began before coverage is there when it starts. */
function drawOnsets(person: Person, stream: Random): Onset[] {
	const onsets: Onset[] = [];
	const chronic = new Set<string>();
	const has = (code: string) => chronic.has(code);
	for (let time = person.birth; time < person.coveredTo; time += stepDays) {
		const age = (time - person.birth) / year;
		const started: string[] = [];
		for (const condition of conditions) {
			if (has(condition.code)) continue;
			const frailty = person.frailty.get(condition.category) as number;
			const rate = frailty * hazard(condition, age, person.sex, has); // a year
			if (stream.uniform() >= 1 - Math.exp((-rate * stepDays) / year)) continue;
			onsets.push({ condition, time: time + stream.uniform() * stepDays });
			if (condition.course === "chronic") started.push(condition.code);
		}
		for (const code of started) chronic.add(code);
	}
	return onsets;
}

interface SimulatedRecord {
	readonly condition: Condition;
	readonly time: number;
}

function drawRecords(person: Person, onsets: readonly Onset[], stream: Random): SimulatedRecord[] {
	const records: SimulatedRecord[] = [];
	const chronic = onsets.filter(({ condition }) => condition.course === "chronic");
	/** A visit is coded for its reason, and now and then for what else the person has. */
	const visit = (reason: Condition, at: number) => {
		const time = Math.floor(at);
		records.push({ condition: reason, time });
		for (const { condition, time: onset } of chronic)
			if (condition !== reason && onset < time && stream.uniform() < alsoCoded)
				records.push({ condition, time });
	};
	for (const { condition, time: onset } of onsets) {
		let time = onset;
		if (condition.course === "chronic")
			while (time <= person.coveredTo) {
				if (time >= person.coveredFrom) visit(condition, time);
				// Follow-up is nearly regular: the gap varies by a third.
				time += condition.gapDays * person.delay * logNormal(stream, 0.35);
			}
		else {
			const further = poisson(stream, condition.burst ?? 0);
			for (let i = 0; i <= further; i++) {
				if (time >= person.coveredFrom) visit(condition, time);
				time += 1 + condition.gapDays * exponential(stream);
			}
		}
	}
	return records;
}

/** Mean 1. */
function logNormal(stream: Random, sigma: number): number {
	return Math.exp(sigma * stream.normal() - (sigma * sigma) / 2);
}

/** Mean 1. */
function exponential(stream: Random): number {
	return -Math.log(1 - stream.uniform());
}

function poisson(stream: Random, mean: number): number {
	const limit = Math.exp(-mean);
	let count = 0;
	for (let product = stream.uniform(); product > limit; product *= stream.uniform()) count++;
	return count;
}
