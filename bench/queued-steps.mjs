import { formatCount } from "../dist/base/progress.js";
import { random } from "../dist/base/random.js";
import { table } from "../dist/base/table.js";
import { xlaRuntime } from "../dist/engine/runtime/pjrt/index.js";
import { weightCount } from "../dist/model/index.js";
import { findPythonWith, median } from "./shared.mjs";
import {
	checkSame,
	findPeerScript,
	learnerOf,
	meanLoss,
	queuedPeers,
	randomBatch,
	startScript,
	subjectOf,
	withPeerSettings,
} from "./subject.mjs";

/** Untimed steps after the first; a peer captures its graph in them. */
const warmUp = 5;

/** Largest relative difference of the first losses. */
const tolerance = { float32: 1e-4, tf32: 1e-2, bf16: 1e-2 };

/** Times steps as a training loop for accelerators runs them, in turns with peers that do the same. */
export async function measureQueued(io, options, open = (precision) => xlaRuntime({ precision })) {
	const { preset, norm = "rms", objective, precision = "tf32" } = options;
	const { steps: stepsPerRound = 100, rounds } = options;
	const subject = subjectOf(options, Math.max(...options.length));
	const { model, weights } = subject;
	let engine = "";
	const sizes = [];
	for (const batch of options.batch)
		for (const length of options.length) {
			io.stderr.write(`batch ${batch} × ${length}\n`);
			const runtime = await open(precision);
			engine = runtime.label;
			const rows = randomBatch(batch, length);
			const ours = startTrajgpt(runtime, subject, rows);
			try {
				const peers = options.peer ? await startPeers(io, options, subject, rows) : [];
				const size = { batch, length, precision, stepsPerRound, rounds };
				const measured = await race(io, ours, peers, size);
				io.stderr.write(timingTable([measured]));
				sizes.push(measured);
			} finally {
				await ours.stop();
			}
		}
	return {
		engine,
		model: model.id,
		preset,
		...(model.id === "trajgpt" && { norm }),
		objective,
		precision,
		parameters: weightCount(weights),
		stepsPerRound,
		rounds,
		sizes,
	};
}

function startTrajgpt(runtime, subject, rows) {
	const learner = learnerOf(runtime, subject);
	const prepared = learner.prepare(rows, random(1), true);
	let done = 0;
	return {
		name: "trajgpt",
		label: runtime.label,
		async run(steps) {
			const begun = performance.now();
			const started = [];
			for (let i = 0; i < steps; i++)
				started.push(await learner.start([prepared], { step: ++done, learningRate: 1e-3 }));
			await started.at(-1)?.result();
			const seconds = (performance.now() - begun) / 1000;
			const results = [];
			for (const step of started) results.push(await step.result());
			if (!results.every(({ finite }) => finite)) throw new Error("the loss is not finite");
			const loss = meanLoss(results.at(-1));
			return { seconds, loss, peakBytes: runtime.memory?.()?.peak ?? null };
		},
		async stop() {
			await learner.dispose();
			await runtime.dispose?.();
		},
	};
}

/** Those of the chosen peers that compute the same and whose module is installed. They load at the same time. */
async function startPeers(io, options, subject, rows) {
	const comparable = findPeerScript(io, subject, rows.length);
	if (!comparable || subject.model.id !== "trajgpt") return [];
	return withPeerSettings(comparable, subject, rows, async (settings) => {
		const { precision = "tf32" } = options;
		const peers = [];
		for (const name of options.peers) {
			const peer = queuedPeers[name];
			const python = await findPythonWith(peer.module);
			if (!python) {
				io.stderr.write(`${name}: no Python with ${peer.module} was found\n`);
				continue;
			}
			const running = startScript(python, peer.script, {
				...settings,
				...peer.settings,
				precision,
			});
			peers.push({ ...peer, name, running });
		}
		const ready = peers.map(async ({ name, running }) => {
			const about = running.read();
			const label = await about.then(
				({ engine }) => engine,
				() => "",
			);
			const run = (steps) => about.then(() => running.ask(steps));
			return { name, label, run, stop: running.stop };
		});
		return Promise.all(ready);
	});
}

/** Runs the engines in turns. A peer that fails is left out from then on. */
async function race(io, ours, peers, { batch, length, precision, stepsPerRound, rounds }) {
	const running = new Map([ours, ...peers].map((engine) => [engine, []]));
	const failed = [];
	const inTurns = async (steps) => {
		for (const [engine, done] of running)
			try {
				const round = await engine.run(steps);
				const first = running.get(ours)?.[0] ?? round;
				if (done.length === 0) checkSame(first.loss, round.loss, tolerance[precision]);
				done.push(round);
			} catch (error) {
				if (engine === ours) throw error;
				const reason = error instanceof Error ? error.message : String(error);
				io.stderr.write(`${engine.name} failed: ${reason}\n`);
				failed.push({ name: engine.name, reason });
				running.delete(engine);
				await engine.stop();
			}
	};
	try {
		io.stderr.write("first step of each engine\n");
		await inTurns(1);
		await inTurns(warmUp);
		for (let round = 1; round <= rounds; round++) {
			await inTurns(stepsPerRound);
			io.stderr.write(`${round}/${rounds} rounds\n`);
		}
		const timed = [...running].map(([engine, all]) => {
			const [first, , ...rest] = all;
			const secondsPerStep = median(rest.map(({ seconds }) => seconds / stepsPerRound));
			return { engine, first, last: rest.at(-1), secondsPerStep };
		});
		const oursPerStep = timed[0]?.secondsPerStep;
		const engines = timed.map(({ engine, first, last, secondsPerStep }) => ({
			name: engine.name,
			engine: engine.label,
			secondsPerStep,
			tokensPerSecond: (batch * length) / secondsPerStep,
			ratio: secondsPerStep / oursPerStep,
			firstStepSeconds: first.seconds,
			firstLoss: first.loss,
			lastLoss: last.loss,
			peakBytes: last.peakBytes,
		}));
		return { batch, length, engines, failed };
	} finally {
		for (const engine of peers) await engine.stop();
	}
}

export const hasFailed = ({ sizes }) => sizes.some(({ failed }) => failed.length > 0);

export function renderQueued(report) {
	const { model, preset, parameters, objective, stepsPerRound, rounds, sizes } = report;
	const labels = new Map(
		sizes.flatMap(({ engines }) => engines.map(({ name, engine }) => [name, engine])),
	);
	return [
		`${model} ${preset}, ${formatCount(parameters)} parameters, objective ${objective}, `,
		`medians of ${rounds} rounds of ${stepsPerRound} queued steps\n`,
		...[...labels].map(([name, label]) => `${name}: ${label}\n`),
		`\n${timingTable(sizes)}`,
	].join("");
}

function timingTable(sizes) {
	const rows = sizes.flatMap(({ batch, length, engines }) =>
		engines.map((timing) => [
			`${batch} × ${length}`,
			timing.name,
			(timing.secondsPerStep * 1000).toFixed(2),
			formatCount(timing.tokensPerSecond),
			timing.ratio.toFixed(2),
			timing.firstStepSeconds.toFixed(1),
			timing.firstLoss.toFixed(4),
			timing.lastLoss.toFixed(4),
			timing.peakBytes === null ? "" : (timing.peakBytes / 1e9).toFixed(2),
		]),
	);
	const header = ["batch", "engine", "ms per step", "tokens/s", "ratio", "first step s"];
	const failures = sizes.flatMap(({ batch, length, failed }) =>
		failed.map(({ name, reason }) => `${batch} × ${length}: ${name} failed: ${reason}\n`),
	);
	return table([...header, "first loss", "last loss", "peak GB"], rows) + failures.join("");
}
