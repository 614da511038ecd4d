// Several concurrent processes on one folder, in some steps after an earlier one was killed.
import { rmSync } from "node:fs";
import { commands, makePlace, recover, referenceOf } from "./commands.mjs";
import { faultOf, run } from "./process.mjs";

const chosen = ["pretrain", "prepare", "export", "simulate", "finetune"].map(
	(name) =>
		/** @type {typeof commands[number]} */ (commands.find((command) => command.name === name)),
);
const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @type {import("./torture.mjs").Campaign} */
export const concurrent = {
	name: "together",
	share: 10,
	lanes: 1,
	async step(world, random, number) {
		const command = /** @type {typeof commands[number]} */ (chosen[number % chosen.length]);
		const { seconds } = await referenceOf(world, command);
		const place = makePlace(world, command);
		let argv = command.argv(world, place);
		// The next processes find the lock of a dead one.
		if (random.uniform() < 0.5) {
			await run(argv, { killAfterMs: (0.5 + random.uniform() / 2) * seconds * 1000 });
			if (command.resume && random.uniform() < 0.8) argv = command.resume(world, place);
		}
		const starters = 2 + random.integer(3);
		const spread = random.uniform() < 0.5 ? 0 : seconds * 500;
		const delays = Array.from({ length: starters }, () => random.uniform() * spread);
		const finished = await Promise.all(
			delays.map(async (delay) => {
				await wait(delay);
				return run(argv);
			}),
		);
		const done = finished.filter(({ code }) => code === 0).length;
		const fault = finished.map(faultOf).find((text) => text !== undefined);
		const wrong = fault ?? (await recover(world, command, place));
		rmSync(place, { recursive: true, force: true });
		return {
			counts: { [`${command.name}, started`]: starters, [`${command.name}, done`]: done },
			broke: wrong && `${command.name}, ${starters} at once: ${wrong}`,
		};
	},
};
