import { namesIn, option, readBy } from "../dist/app/commands/fields.js";
import { random } from "../dist/base/random.js";
import { table } from "../dist/base/table.js";
import { specialCount } from "../dist/data/cohort/vocabulary.js";
import { providers } from "../dist/engine/runtime/index.js";
import { nodeRuntime } from "../dist/engine/runtime/node.js";
import { openRuntime } from "../dist/engine/runtime/open-runtime.js";
import { modelById, models } from "../dist/model/index.js";
import { firstOf } from "../dist/model/train/step.js";
import { benchmark, checkedEngineFields, countField, threadsField } from "./shared.mjs";
import { learnerOf, meanLoss, subjectOf } from "./subject.mjs";

const boundsOf = {
	float32: { first: 1e-4, last: 5e-3 },
	tf32: { last: 1e-2 },
	bf16: { last: 1e-2 },
};

/** Models with sums by index that are too large for a fixed order of additions: docs/gpu.md. */
const unordered = new Set(["timesnet"]);

/** Engines round differently at every operation: their difference may be this multiple of that of other last digits. */
const mostTimes = 3;

const otherLastDigits = 3;

/** The largest difference that is allowed: `bound`, or more where the last digits make a larger one. */
const allowed = ({ lastDigits }, bound) => Math.max(bound, mostTimes * lastDigits);

const [rows, length] = [16, 24];
const [trainingBatches, validationBatches] = [20, 4];
/** A gradient counts as this part of the model's largest at least: those of weights without effect are rounding. */
const smallest = 1e-3;

/** Histories with something to learn: a code makes one other more likely. */
function batchOf(seed) {
	const draw = random(2).fork(seed);
	const codes = 40;
	const tokens = new Int32Array(rows * length);
	const times = new Float64Array(rows * length);
	for (let at = 0; at < tokens.length; at++) {
		const isFirst = at % length === 0;
		const code = isFirst ? 0 : tokens[at - 1] - specialCount;
		const follows = !isFirst && draw.uniform() < 0.7;
		tokens[at] = specialCount + (follows ? (3 * code + 1) % codes : draw.integer(codes));
		times[at] = isFirst ? 0 : times[at - 1] + 30 * draw.uniform();
	}
	return { rows, length, tokens, times, lengths: new Int32Array(rows).fill(length) };
}

/** Trains from the first weights of a subject, always with the same batches and draws. */
async function trained(runtime, subject, steps) {
	const learner = learnerOf(runtime, subject);
	try {
		let [loss, gradients] = [Number.NaN, new Map()];
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
				[...subject.weights.keys()].map((name) => [name, state.get(firstOf(name))?.data]),
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

const small = (value) => value.toExponential(1);

const relative = (value, expected) => Math.abs(value - expected) / Math.abs(expected);

const largest = (values) => {
	let most = 0;
	for (const value of values) most = Math.max(most, Math.abs(value));
	return most;
};

/** The gradient that differs most, in terms of what is allowed. */
function worstGradient(gradients, reference, changed) {
	const floor = smallest * largest([...reference.values()].map(largest));
	const differences = [...reference].map(([weight, expected]) => {
		const differenceOf = (from) => {
			const values = from.get(weight);
			const difference = largest(expected.map((value, i) => value - values[i]));
			return difference / Math.max(floor, largest(expected));
		};
		const gradientDifference = {
			here: differenceOf(gradients),
			lastDigits: largest(changed.map(differenceOf)),
		};
		const { here, lastDigits } = gradientDifference;
		const share = here / allowed(gradientDifference, boundsOf.float32.first);
		return { weight, gradientDifference, share, lastDigits };
	});
	// Where nothing differs, the most sensitive one.
	differences.sort((a, b) => b.share - a.share || b.lastDigits - a.lastDigits);
	const [{ weight, gradientDifference }] = differences;
	return { weight, gradientDifference };
}

/** The same weights, each one unit in the last place larger or smaller. */
function withOtherLastDigits(weights, seed) {
	const draw = random(3).fork(seed);
	const change = (value) => value * (1 + (draw.uniform() < 0.5 ? -1 : 1) * 2 ** -23);
	return new Map(
		[...weights].map(([name, { shape, data }]) => [name, { shape, data: data.map(change) }]),
	);
}

const sameBits = (a, b) =>
	[...a].every(([name, { data }]) => {
		const other = b.get(name)?.data;
		return other !== undefined && data.every((value, i) => Object.is(value, other[i]));
	});

async function measure(io, options) {
	const { provider, threads, precision = "float32", steps, only } = options;
	const reference = nodeRuntime({ threads: 1 });
	const engine = await openRuntime(
		provider === "xla" ? { provider, precision } : { provider, threads },
		"training",
	);
	const bounds = boundsOf[precision];
	const reports = [];
	try {
		for (const model of only) {
			io.stderr.write(`${model}\n`);
			const subject = subjectOf({ model, preset: "tiny", objective: "horizon" }, length);
			const expected = await trained(reference, subject, steps);
			const checked = await trained(engine, subject, steps);
			const again = await trained(engine, subject, steps);
			const changed = [];
			for (let seed = 0; seed < otherLastDigits; seed++) {
				const weights = withOtherLastDigits(subject.weights, seed);
				changed.push(await trained(reference, { ...subject, weights }, 1));
			}
			reports.push({
				model,
				lossDifference: {
					here: relative(checked.loss, expected.loss),
					lastDigits: largest(changed.map(({ loss }) => relative(loss, expected.loss))),
				},
				...worstGradient(
					checked.gradients,
					expected.gradients,
					changed.map(({ gradients }) => gradients),
				),
				valid: checked.valid,
				referenceValid: expected.valid,
				validDifference: relative(checked.valid, expected.valid),
				repeats: sameBits(checked.state, again.state),
			});
		}
	} finally {
		await engine.dispose?.();
		await reference.dispose?.();
	}
	return {
		engine: engine.label,
		reference: reference.label,
		steps,
		bounds,
		models: reports,
		failed: reports.flatMap((report) => failuresOf(report, bounds)),
	};
}

function failuresOf(report, { first, last }) {
	const { model, weight, lossDifference, gradientDifference, validDifference, repeats } = report;
	const beyond = (what, difference, bound) =>
		difference <= bound
			? []
			: [`${model}: ${what} differs by ${small(difference)}, more than ${small(bound)}`];
	const atFirst = (what, difference) =>
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

function render(report) {
	const rows = report.models.map((each) => [
		each.model,
		small(each.lossDifference.here),
		small(each.lossDifference.lastDigits),
		small(each.gradientDifference.here),
		small(each.gradientDifference.lastDigits),
		each.referenceValid.toFixed(4),
		each.valid.toFixed(4),
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

export const command = benchmark({
	name: "models",
	description:
		"Train every model in its tiny preset, with the default objective, on one thread of the CPU and\n" +
		"twice on another engine, from the same weights, batches and draws. Compare the first loss and\n" +
		"its gradients, the validation loss after the last step, and the weights of the two trainings.\n" +
		'"last digits" is the difference that the CPU itself makes if the last digits of the weights\n' +
		"change. Exits with 1 if a difference is too large, also beside that one, or if the second\n" +
		"training ends with other weights.",
	options: {
		...checkedEngineFields(providers, "engine to check"),
		threads: threadsField("number of threads with --provider cpu", 2),
		steps: countField("training steps", 200),
		only: option(
			"list",
			"models to check",
			readBy((text) => namesIn(text).map((id) => modelById(id).id)).default(
				models.map(({ id }) => id),
			),
			{ defaultText: "all" },
		),
	},
	examples: {
		"node bench/main.mjs models --provider xla": "an accelerator, in float32",
		"node bench/main.mjs models --provider xla --precision bf16 --only trajgpt,gru-d": "two models",
	},
	measure,
	render,
	failed: ({ failed }) => failed.length > 0,
});
