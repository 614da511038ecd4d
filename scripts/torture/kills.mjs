// Kills at random moments; the same command again must end as if nothing had happened.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { commands, makePlace, recover, referenceOf } from "./commands.mjs";
import { faultOf, run } from "./process.mjs";

/** @type {import("./torture.mjs").Campaign} */
export const kills = {
	name: "kills",
	share: 35,
	lanes: 2,
	async step(world, random, number) {
		const command = /** @type {typeof commands[number]} */ (commands[number % commands.length]);
		const reference = await referenceOf(world, command);
		const place = makePlace(world, command);
		let killed = 0;
		const rounds = 1 + random.integer(3);
		// Whether the children of a killed command survive it.
		const childrenToo = random.uniform() < 0.5;
		for (let round = 0; round < rounds; round++) {
			const begun = command.begun && existsSync(join(place, command.begun));
			const argv = (begun && command.resume) || command.argv;
			const finished = await run(argv(world, place), {
				killAfterMs: random.uniform() * reference.seconds * 1100,
				childrenToo,
			});
			if (finished.killed) killed++;
			else if (finished.code !== 0) {
				const fault = faultOf(finished);
				if (fault)
					return { counts: { [command.name]: killed }, broke: `${command.name}: ${fault}` };
			}
		}
		const wrong = await recover(world, command, place);
		rmSync(place, { recursive: true, force: true });
		return {
			counts: { [command.name]: killed },
			broke: wrong && `${command.name}, killed ${killed} times: ${wrong}`,
		};
	},
};
