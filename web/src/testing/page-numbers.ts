import { fromTokens, type Token } from "../../../src/data/cohort/vocabulary.js";
import type { Calls } from "../../../src/predict/calls.js";
import type { People, Rates, SamplePatient } from "../data/contract.js";
import { historyOf, initialDate, patientOf } from "../data/patient.js";
import { onsetsOf, peopleLike, vectorsOf } from "../engine/people.js";
import { longestDays, type RiskRequest, reasonsAt, riskSource } from "../engine/risks.js";
import { trueRisks } from "../engine/true-risks.js";

/** What the page loads before it shows a patient. */
interface PageData extends Rates {
	readonly calls: Calls;
	readonly config: Readonly<Record<string, unknown>>;
	readonly tokens: readonly Token[];
	readonly people: People | null;
}

/** The numbers that the page shows of a sample: as it is, and without its third event. */
export async function pageNumbers(data: PageData, sample: SamplePatient) {
	const { calls, rates, people } = data;
	const vocabulary = fromTokens(data.tokens);
	const patient = patientOf(sample);
	const { sex } = patient;
	const date = initialDate(patient);
	const without = patient.events.toSpliced(2, 1);
	const removed = patient.events[2];
	const history = historyOf(patient, patient.events);
	const edited = historyOf(patient, without);
	const longest = longestDays(data.config);
	if (longest === undefined || !removed) return { date };

	const model = { calls, longest, rates };
	const codes = [5, 9, 20];
	const risksOf = riskSource(model, vocabulary);
	const unedited: RiskRequest = { history, sex, date, original: null, edits: [], codes };
	const whatIf: RiskRequest = {
		...unedited,
		history: edited,
		original: history,
		edits: [{ edit: { remove: 3 }, name: "without" }],
	};
	const reasons = { parameters: 1, onProgress: () => {}, signal: new AbortController().signal };
	const { simulation } = sample;
	return {
		date,
		risks: await risksOf(unedited),
		edited: await risksOf(whatIf),
		reasons: await reasonsAt(model, unedited, 9, reasons),
		reasonsOfEdits: await reasonsAt(model, whatIf, 9, reasons),
		people: people && similarTo(await peopleLike(calls, people, vectorsOf(people), unedited)),
		trueRisks:
			simulation &&
			trueRisks({ ...simulation, date, days: [365, 1826], codes: ["401", "428", "250"] }),
	};

	function similarTo({ nearest, compared }: Awaited<ReturnType<typeof peopleLike>>) {
		return {
			compared,
			nearest: nearest.length,
			onsets: codes.map((code) => onsetsOf(nearest, code)),
		};
	}
}
