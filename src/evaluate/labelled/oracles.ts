import { random } from "../../base/random.js";
import type { Dataset, Label } from "../../data/cohort/index.js";
import { insulinDays } from "../../data/cohort/label-rules.js";
import { companionChances, rates } from "../../data/simulate/hazards.js";
import { insulinLogOdds } from "../../data/simulate/prescriptions.js";
import { simulateLife } from "../../data/simulate/simulate-life.js";
import { State } from "../../data/simulate/state.js";
import { positionOf, size } from "../../data/simulate/tables.js";
import type { EvaluateOptions } from "../evaluation.js";
import { findSimulationTruth, type SimulationTruth } from "../simulation-truth.js";
import type { TaskCodes } from "./task-labels.js";

type SimulatedRecords = ReturnType<SimulationTruth["patient"]>["history"];

interface LabelOracle {
	/** What the probabilities are of, in words. */
	readonly of: string;
	/** Whether they are probabilities of the label itself. */
	readonly calibrated: boolean;
	/** Whether records of the label's day are known. */
	readonly knowsDay: boolean;
	/** The probability of a label, numbered by `index`, from the state of its patient. */
	chance(state: State, day: number, records: SimulatedRecords, index: number): number;
}

/** Sampled futures per patient. */
const futures = 64;

export const labelOracles: Readonly<Record<string, LabelOracle>> = {
	/** Exact probability that heart failure is coded at a visit on the day, whatever its reason. */
	"chf-paper": {
		of: "428 being coded at the visit",
		calibrated: false,
		knowsDay: false,
		chance(state, day) {
			const failure = positionOf("428");
			const byReason = new Float64Array(size);
			const companions = new Float64Array(size);
			state.enter(day);
			const total = rates(state, day, byReason);
			let sum = 0;
			for (let reason = 0; reason < size; reason++) {
				if (byReason[reason] === 0) continue;
				companionChances(state, day, reason, companions);
				sum += byReason[reason] * (reason === failure ? 1 : companions[failure]);
			}
			return sum / total;
		},
	},
	/**
	 * The probability that insulin is started: exact for the visit itself, by sampled futures for later visits
	 * within the period. Steroids, which matter a little, are not recorded and are assumed absent.
	 */
	insulin: {
		of: "insulin within the time, steroids unknown",
		calibrated: true,
		knowsDay: true,
		chance(start, day, { birth, events }, index) {
			const diabetes = positionOf("250");
			const state = new State();
			const lastRecord = new Map<number, number>();
			for (const event of events)
				if (event.day <= day) lastRecord.set(positionOf(event.code), event.day);
			const none = (visit: number, earlier: number, records: ReadonlyMap<number, number>) => {
				const odds = insulinLogOdds({
					day: visit,
					birth,
					earlier,
					firstDay: day,
					lastRecord: (code) => records.get(code) ?? Number.NEGATIVE_INFINITY,
					lastSteroid: Number.NEGATIVE_INFINITY,
				});
				return 1 / (1 + Math.exp(odds));
			};
			let later = 0;
			for (let sample = 0; sample < futures; sample++) {
				state.copy(start);
				state.enter(day + 1);
				const records = new Map(lastRecord);
				let [without, earlier] = [1, 1];
				const stream = random(index).fork("insulin").fork(sample);
				simulateLife(state, stream, day + 1, day + insulinDays + 1, (visit, codes, length) => {
					for (let i = 0; i < length; i++) records.set(codes[i], visit);
					for (let i = 0; i < length; i++)
						if (codes[i] === diabetes) without *= none(visit, earlier++, records);
				});
				later += without / futures;
			}
			return 1 - none(day, 0, lastRecord) * later;
		},
	},
};

/** The true probability of each label, from the simulated history up to its day. */
export async function labelChances(
	{ knowsDay, chance }: LabelOracle,
	dataset: Dataset,
	labels: readonly Label[],
	truth: SimulationTruth,
): Promise<Float64Array> {
	const chances = new Float64Array(labels.length);
	for (const [index, label] of labels.entries()) {
		const day = Math.round(label.time);
		const { history } = truth.patient(await dataset.read(label.patient));
		const { birth, sex, coverage, events } = history;
		const follower = truth.oracle.follow({ birth, sex, ...(coverage && { coverage }) });
		for (const event of events)
			if (knowsDay ? event.day <= day : event.day < day) follower.observe(event.day, event.code);
		const state = new State();
		state.copy(follower.state());
		chances[index] = chance(state, day, history, index);
	}
	return chances;
}

/** The reference model's cumulative incidence of a task's codes after each label. */
export async function onsetOracle(
	dataset: Dataset,
	labels: readonly Label[],
	{ risk, horizonDays }: TaskCodes,
	options: EvaluateOptions,
	notes: string[],
): Promise<Float64Array | undefined> {
	const { futures, seed } = options;
	const truth = await findSimulationTruth(dataset, options, notes, "incidence");
	if (!truth) return undefined;
	const chances = new Float64Array(labels.length);
	for (const [index, { patient, time }] of labels.entries()) {
		const history = await dataset.read(patient);
		const sampled = { futures, seed };
		const { tokens } = truth.incidence(history, Math.floor(time), [horizonDays], sampled);
		chances[index] = 1 - risk.reduce((left, token) => left * (1 - (tokens[token] ?? 0)), 1);
	}
	notes.push(
		`reference model: the simulator's own probability, averaged over ${futures} sampled futures per patient`,
	);
	return chances;
}
