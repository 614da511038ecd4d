import { fromTokens, type Token } from "../../../src/data/cohort/vocabulary.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { People, Rates, SamplePatient } from "../data/contract.js";
import { historyOf, type Patient, patientOf } from "../data/patient.js";
import { type DrawnFutures, futuresAt, shareWithin } from "../engine/futures.js";
import { initialDate } from "../engine/panels.js";
import { onsetsOf, peopleLike, vectorsOf } from "../engine/people.js";
import { type QueryResult, QueryRunner, type Request } from "../engine/query-runner.js";
import { reasonsAt } from "../engine/reasons.js";
import { type RiskRequest, riskSource } from "../engine/risk-source.js";
import { longestDays } from "../engine/risks.js";
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
	const panels = await shownBy(calls, patient, date, [patient.events, without]);
	if (longest === undefined || !removed) return { date, panels };

	const model = { calls, longest, rates };
	const codes = [5, 9, 20];
	const risksOf = riskSource(model, vocabulary);
	const asIs: RiskRequest = { history, sex, date, original: null, edits: [], codes };
	const whatIf: RiskRequest = {
		...asIs,
		history: edited,
		original: history,
		edits: [{ edit: { remove: 3 }, name: "without" }],
	};
	const reasons = { parameters: 1, onProgress: () => {}, signal: new AbortController().signal };
	const { simulation } = sample;
	return {
		date,
		panels,
		risks: await risksOf(asIs),
		edited: await risksOf(whatIf),
		reasons: await reasonsAt(model, asIs, 9, reasons),
		reasonsOfEdits: await reasonsAt(model, whatIf, 9, reasons),
		futures: await futures(data, longest, { history, date }),
		people: people && similarTo(await peopleLike(calls, people, vectorsOf(people), asIs)),
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

/** The panels of a patient with these events in turn. */
async function shownBy(
	calls: Calls,
	patient: Patient,
	date: number,
	versions: readonly Request["events"][],
) {
	const results: QueryResult[] = [];
	let next = (_: QueryResult) => {};
	let fail = (_: Error) => {};
	const runner = new QueryRunner(calls, patient, {
		onResult: (result) => next(result),
		onError: (message) => fail(new Error(message)),
		onIdle: () => {},
	});
	for (const events of versions) {
		const shown = new Promise<QueryResult>((resolve, reject) => {
			[next, fail] = [resolve, reject];
		});
		runner.submit({ patient, events, date, horizon: 1826, zoom: null, since: 0 });
		results.push(await shown);
	}
	runner.stop();
	return results.map(({ panels }) => ({
		top: panels.top,
		later: panels.later,
		curve: panels.curve(panels.top[0]?.token ?? 5),
	}));
}

async function futures(
	{ calls, tokens }: PageData,
	longest: number,
	from: Pick<RiskRequest, "history" | "date">,
) {
	let drawn: DrawnFutures | undefined;
	await futuresAt({ calls, longest, repeats: true, vocabulary: fromTokens(tokens) }, from, {
		onPart: (part) => {
			drawn = part;
		},
		signal: new AbortController().signal,
	});
	const futures = drawn?.futures ?? [];
	return [undefined, 5, 9, 20].map((token) => shareWithin(futures, from.date, 5, token));
}
