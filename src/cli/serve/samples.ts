import { random } from "../../base/random.js";
import type { Dataset } from "../../cohort/index.js";

const most = 24;
const [fewestEvents, mostEvents] = [20, 400];

/** Patients to look at, of the test split, under names of their own. */
export async function samplePatients(dataset: Dataset, seed = 0) {
	const fitting = [...dataset.patients("test")].filter((patient) => {
		const events = dataset.lengthOf(patient) - dataset.birthEventsOf(patient);
		return events >= fewestEvents && events <= mostEvents;
	});
	const drawn = random(seed).fork("samples").shuffle(fitting).slice(0, most);
	const patients = [];
	for (const [at, patient] of drawn.entries()) {
		const { tokens, times, sex, birthEvents } = await dataset.read(patient);
		patients.push({
			id: `s${at + 1}`,
			name: `Sample ${at + 1}`,
			birthTime: birthEvents ? (times[0] as number) : null,
			sex,
			events: Array.from(tokens.subarray(birthEvents), (token, event) => ({
				token,
				time: times[birthEvents + event] as number,
			})),
		});
	}
	return patients;
}
