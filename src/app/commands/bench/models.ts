import { random } from "../../../base/random.js";
import { table } from "../../../base/table.js";
import { specialCount } from "../../../data/cohort/vocabulary.js";
import type { ResidentValue, Runtime } from "../../../engine/runtime/index.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import type { Precision } from "../../../engine/tensor/index.js";
import type { EventBatch, ParameterValues } from "../../../model/index.js";
import { firstOf } from "../../../model/train/step.js";
import { openRuntime } from "../../workflows/open-runtime.js";
import type { Io } from "../io.js";
import type { ModelsOptions } from "./commands/models.js";
import { learnerOf, meanLoss, type Subject, subjectOf } from "./step-subject.js";

export interface ModelsReport {
	readonly engine: string;
	/** What it is compared with. */
	readonly reference: string;
	readonly steps: number;
	readonly bounds: Bounds;
	readonly models: readonly ModelReport[];
	/** What is out of bounds, in words. */
	readonly failed: readonly string[];
}

/** Largest relative differences from the reference; undefined where any is allowed. */
interface Bounds {
	/** Of the first loss, and of its gradients, unless a change of the last digits makes as large a difference. */
	readonly first?: number;
	/** Of the validation loss after all steps. */
	readonly last: number;
}

interface Difference {
	/** Between the engines. */
	readonly here: number;
	/** On the reference, between the weights and the same weights with other last digits: the largest of some. */
	readonly lastDigits: number;
}

interface ModelReport {
	readonly model: string;
	/** Relative difference of the first loss. */
	readonly lossDifference: Difference;
	/** The worst of all gradients, relative to the largest value of the same gradient. */
	readonly gradientDifference: Difference;
	/** The weight that it belongs to. */
	readonly weight: string;
	/** Mean −log p on validation batches, after all steps. */
	readonly valid: number;
	readonly referenceValid: number;
	readonly validDifference: number;
	/** Whether a second training from the same seed ended with the same weights, to the bit. */
	readonly repeats: boolean;
}

const boundsOf = {
	float32: { first: 1e-4, last: 5e-3 },
	tf32: { last: 1e-2 },
	bf16: { last: 1e-2 },
} as const satisfies Record<Precision, Bounds>;

/** Models with sums by index that are too large for a fixed order of additions: docs/gpu.md. */
const unordered: ReadonlySet<string> = new Set(["timesnet"]);

/** Engines round differently at every operation: their difference may be this multiple of that of other last digits. */
const mostTimes = 3;

/** Copies of the weights with other last digits. */
const otherLastDigits = 3;

/** The largest difference that is allowed: `bound`, or more where the last digits make a larger one. */
const allowed = ({ lastDigits }: Difference, bound: number) =>
	Math.max(bound, mostTimes * lastDigits);

const [rows, length] = [16, 24];
const [trainingBatches, validationBatches] = [20, 4];
/** A gradient counts as this part of the model's largest at least: those of weights without effect are rounding. */
const smallest = 1e-3;

/** Histories with something to learn: a code makes one other more likely. */
function batchOf(seed: number): EventBatch {
	const draw = random(2).fork(seed);
	const codes = 40;
	const tokens = new Int32Array(rows * length);
	const times = new Float64Array(rows * length);
	for (let at = 0; at < tokens.length; at++) {
		const isFirst = at % length === 0;
		const code = isFirst ? 0 : (tokens[at - 1] as number) - specialCount;
		const follows = !isFirst && draw.uniform() < 0.7;
		tokens[at] = specialCount + (follows ? (3 * code + 1) % codes : draw.integer(codes));
		times[at] = isFirst ? 0 : (times[at - 1] as number) + 30 * draw.uniform();
	}
	return { rows, length, tokens, times, lengths: new Int32Array(rows).fill(length) };
}

interface Outcome {
	readonly loss: number;
	readonly gradients: ReadonlyMap<string, Float32Array>;
	readonly valid: number;
	readonly state: ReadonlyMap<string, ResidentValue>;
}

/** Trains from the first weights of a subject, always with the same batches and draws. */
async function trained(runtime: Runtime, subject: Subject, steps: number): Promise<Outcome> {
	const learner = learnerOf(runtime, subject);
	try {
		let [loss, gradients] = [Number.NaN, new Map<string, Float32Array>()];
		for (let step = 1; step <= steps; step++) {
			const batch = batchOf(step % trainingBatches);
			const at = { step, learningRate: 1e-3, random: random(step) };
			const result = await learner.step([batch], at);
			if (!result.finite) throw new Error(`${subject.model.id}: step ${step} is not finite`);
			if (step > 1) continue;
			loss = meanLoss(result);
			// After one step, the first moment is the gradient but for a factor.
			const state = await learner.state();
			gradients = new Map(
				[...subject.weights.keys()].map((name) => [
					name,
					state.get(firstOf(name))?.data as Float32Array,
				]),
			);
		}
		let valid = 0;
		for (let i = 0; i < validationBatches; i++)
			valid += meanLoss(await learner.losses(batchOf(trainingBatches + i), random(i)));
		return { loss, gradients, valid: valid / validationBatches, state: await learner.state() };
	} finally {
		await learner.dispose();
	}
}

const small = (value: number) => value.toExponential(1);

const relative = (value: number, expected: number) =>
	Math.abs(value - expected) / Math.abs(expected);

const largest = (values: Iterable<number>) => {
	let most = 0;
	for (const value of values) most = Math.max(most, Math.abs(value));
	return most;
};

/** The gradient that differs most, in terms of what is allowed. */
function worstGradient(
	own: Outcome["gradients"],
	reference: Outcome["gradients"],
	changed: readonly Outcome["gradients"][],
) {
	const floor = smallest * largest([...reference.values()].map(largest));
	const gradients = [...reference].map(([weight, expected]) => {
		const differenceOf = (from: Outcome["gradients"]) => {
			const values = from.get(weight) as Float32Array;
			const difference = largest(expected.map((value, i) => value - (values[i] as number)));
			return difference / Math.max(floor, largest(expected));
		};
		const gradientDifference = {
			here: differenceOf(own),
			lastDigits: largest(changed.map(differenceOf)),
		};
		const { here, lastDigits } = gradientDifference;
		const share = here / allowed(gradientDifference, boundsOf.float32.first);
		return { weight, gradientDifference, share, lastDigits };
	});
	// Where nothing differs, the most sensitive one.
	gradients.sort((a, b) => b.share - a.share || b.lastDigits - a.lastDigits);
	const [{ weight, gradientDifference }] = gradients as [(typeof gradients)[0]];
	return { weight, gradientDifference };
}

/** The same weights, each one unit in the last place larger or smaller. */
function withOtherLastDigits(weights: ParameterValues, seed: number): ParameterValues {
	const draw = random(3).fork(seed);
	const change = (value: number) => value * (1 + (draw.uniform() < 0.5 ? -1 : 1) * 2 ** -23);
	return new Map(
		[...weights].map(([name, { shape, data }]) => [name, { shape, data: data.map(change) }]),
	);
}

const sameBits = (a: Outcome["state"], b: Outcome["state"]) =>
	[...a].every(([name, { data }]) => {
		const other = b.get(name)?.data;
		return other !== undefined && data.every((value, i) => Object.is(value, other[i]));
	});

/** Trains every model on an engine and on one thread of the CPU, and compares. */
export async function benchModels(io: Io, options: ModelsOptions): Promise<ModelsReport> {
	const { provider, threads, precision = "float32", steps, only } = options;
	const reference = nodeRuntime({ threads: 1 });
	const engine = await openRuntime(
		provider === "xla" ? { provider, precision } : { provider, threads },
		"training",
	);
	const bounds: Bounds = boundsOf[precision];
	const reports: ModelReport[] = [];
	try {
		for (const model of only) {
			io.stderr.write(`${model}\n`);
			const subject = subjectOf({ model, preset: "tiny", objective: "horizon" }, length);
			const expected = await trained(reference, subject, steps);
			const own = await trained(engine, subject, steps);
			const again = await trained(engine, subject, steps);
			const changed: Outcome[] = [];
			for (let seed = 0; seed < otherLastDigits; seed++) {
				const weights = withOtherLastDigits(subject.weights, seed);
				changed.push(await trained(reference, { ...subject, weights }, 1));
			}
			reports.push({
				model,
				lossDifference: {
					here: relative(own.loss, expected.loss),
					lastDigits: largest(changed.map(({ loss }) => relative(loss, expected.loss))),
				},
				...worstGradient(
					...([own.gradients, expected.gradients] as const),
					changed.map(({ gradients }) => gradients),
				),
				...{ valid: own.valid, referenceValid: expected.valid },
				validDifference: relative(own.valid, expected.valid),
				repeats: sameBits(own.state, again.state),
			});
		}
	} finally {
		await engine.dispose?.();
		await reference.dispose?.();
	}
	return {
		...{ engine: engine.label, reference: reference.label, steps, bounds, models: reports },
		failed: reports.flatMap((report) => failuresOf(report, bounds)),
	};
}

function failuresOf(report: ModelReport, { first, last }: Bounds): string[] {
	const { model, weight, lossDifference, gradientDifference, validDifference, repeats } = report;
	const beyond = (what: string, difference: number, bound: number) =>
		difference <= bound
			? []
			: [`${model}: ${what} differs by ${small(difference)}, more than ${small(bound)}`];
	const atFirst = (what: string, difference: Difference) =>
		first === undefined ? [] : beyond(what, difference.here, allowed(difference, first));
	return [
		...atFirst("the first loss", lossDifference),
		...atFirst(`the gradient of ${weight}`, gradientDifference),
		...beyond("the last validation loss", validDifference, last),
		...(repeats || unordered.has(model)
			? []
			: [`${model}: a second training ended with other weights`]),
	];
}

export function renderModels(report: ModelsReport): string {
	const rows = report.models.map((each) => [
		each.model,
		...[each.lossDifference, each.gradientDifference].flatMap(({ here, lastDigits }) => [
			...[small(here), small(lastDigits)],
		]),
		...[each.referenceValid.toFixed(4), each.valid.toFixed(4)],
		`${(100 * each.validDifference).toFixed(3)} %`,
		each.repeats ? "yes" : "no",
	]);
	const header = ["model", "first loss", "last digits", "gradients", "last digits"];
	const after = ["nats, CPU", "nats, here", "difference", "repeats"];
	return [
		`${report.engine}, compared with ${report.reference}; ${report.steps} steps\n`,
		table([...header, ...after], rows),
		...report.failed.map((failure) => `${failure}\n`),
	].join("");
}
