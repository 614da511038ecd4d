import { random } from "../../base/random.js";
import { specialCount } from "../../cohort/vocabulary.js";
import type { Precision } from "../../graph/index.js";
import type { EventBatch } from "../../models/index.js";
import type { ResidentValue, Runtime } from "../../runtime/index.js";
import { nodeRuntime } from "../../runtime/node.js";
import { firstOf } from "../../train/step.js";
import { openRuntime } from "../../workflows/open-runtime.js";
import type { Io } from "../io.js";
import { table } from "../table.js";
import type { ModelsOptions } from "./command.js";
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
	/** Of the first loss, and of its gradients. */
	readonly first?: number;
	/** Of the validation loss after all steps. */
	readonly last: number;
}

interface ModelReport {
	readonly model: string;
	/** Relative difference of the first loss. */
	readonly lossDifference: number;
	/** The largest of all gradients, relative to the largest value of the same gradient. */
	readonly gradientDifference: number;
	/** The weight that it belongs to. */
	readonly weight: string;
	/** Mean −log p on validation batches, after all steps. */
	readonly valid: number;
	readonly referenceValid: number;
	readonly validDifference: number;
	/** Whether a second training from the same seed ended with the same weights, to the bit. */
	readonly repeats: boolean;
}

const boundsOf: Readonly<Record<Precision, Bounds>> = {
	float32: { first: 1e-4, last: 5e-3 },
	tf32: { last: 1e-2 },
	bf16: { last: 1e-2 },
};

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

const relative = (value: number, expected: number) =>
	Math.abs(value - expected) / Math.abs(expected);

const largest = (values: Iterable<number>) => {
	let most = 0;
	for (const value of values) most = Math.max(most, Math.abs(value));
	return most;
};

function worstGradient(own: Outcome["gradients"], reference: Outcome["gradients"]) {
	const floor = smallest * largest([...reference.values()].map(largest));
	let worst = { weight: "", gradientDifference: 0 };
	for (const [weight, expected] of reference) {
		const values = own.get(weight) as Float32Array;
		const difference = largest(expected.map((value, i) => value - (values[i] as number)));
		const gradientDifference = difference / Math.max(floor, largest(expected));
		if (gradientDifference > worst.gradientDifference) worst = { weight, gradientDifference };
	}
	return worst;
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
	const bounds = boundsOf[precision];
	const reports: ModelReport[] = [];
	try {
		for (const model of only) {
			io.stderr.write(`${model}\n`);
			const subject = subjectOf({ model, preset: "tiny", objective: "horizon" }, length);
			const expected = await trained(reference, subject, steps);
			const own = await trained(engine, subject, steps);
			const again = await trained(engine, subject, steps);
			reports.push({
				model,
				lossDifference: relative(own.loss, expected.loss),
				...worstGradient(own.gradients, expected.gradients),
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
	const beyond = (what: string, difference: number, bound: number | undefined) =>
		bound === undefined || difference <= bound
			? []
			: [`${model}: ${what} differs by ${difference.toExponential(1)}, more than ${bound}`];
	return [
		...beyond("the first loss", lossDifference, first),
		...beyond(`the gradient of ${weight}`, gradientDifference, first),
		...beyond("the last validation loss", validDifference, last),
		...(repeats ? [] : [`${model}: a second training ended with other weights`]),
	];
}

export function renderModels(report: ModelsReport): string {
	const rows = report.models.map((each) => [
		...[each.model, each.lossDifference.toExponential(1), each.gradientDifference.toExponential(1)],
		...[each.referenceValid.toFixed(4), each.valid.toFixed(4)],
		`${(100 * each.validDifference).toFixed(3)} %`,
		each.repeats ? "yes" : "no",
	]);
	const header = ["model", "first loss", "gradients", "nats, CPU", "nats, here", "difference"];
	return [
		`${report.engine}, compared with ${report.reference}; ${report.steps} steps\n`,
		table([...header, "repeats"], rows),
		...report.failed.map((failure) => `${failure}\n`),
	].join("");
}
