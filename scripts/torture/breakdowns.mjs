// Kills, full disks and several processes at once: the same command again must end as if nothing had happened.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { argvOf, commandOf, commands, makePlace, recover, referenceOf } from "./commands.mjs";
import { faultOf, filesIn, run } from "./process.mjs";

export const kills = {
	name: "kills",
	share: 35,
	lanes: 2,
	async step(world, random, number) {
		const command = commandOf(number);
		const reference = await referenceOf(world, command);
		const place = makePlace(world, command);
		let killed = 0;
		const rounds = 1 + random.integer(3);
		// Whether the children of a killed command survive it.
		const childrenToo = random.uniform() < 0.5;
		for (let round = 0; round < rounds; round++) {
			const begun = command.begun && existsSync(join(place, command.begun));
			const line = (begun && command.resume) || command.line;
			const finished = await run(argvOf(world, line, place), {
				killAfterMs: random.uniform() * reference.seconds * 1100,
				childrenToo,
			});
			const fault = finished.killed ? undefined : faultOf(finished);
			if (fault) return { counts: { [command.name]: killed }, broke: `${command.name}: ${fault}` };
			if (finished.killed) killed++;
		}
		const wrong = await recover(world, command, place);
		rmSync(place, { recursive: true, force: true });
		return {
			counts: { [command.name]: killed },
			broke: wrong && `${command.name}, killed ${killed} times: ${wrong}`,
		};
	},
};

const mount = (...args) => execFileSync("mount", args, { stdio: "ignore" });
const bytesIn = (folder) =>
	filesIn(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
const roomy = "size=1g";

/** A disk that fills up while a command writes: the command reports it, and resumes when there is space again. */
export const fullDisk = {
	name: "full-disk",
	share: 10,
	lanes: 1,
	async step(world, random, number) {
		const command = commandOf(number);
		const disk = mkdtempSync(join(world.folder, "disk-"));
		try {
			mount("-t", "tmpfs", "-o", roomy, "tmpfs", disk);
		} catch {
			rmSync(disk, { recursive: true });
			return { counts: {}, skip: "no right to mount a small disk" };
		}
		try {
			await referenceOf(world, command);
			const place = makePlace(world, command, disk);
			const room = Math.floor(random.uniform() * 200) * 1024;
			mount("-o", `remount,size=${bytesIn(disk) + room + 65_536}`, disk);
			const finished = await run(argvOf(world, command.line, place));
			const fault = faultOf(finished);
			mount("-o", `remount,${roomy}`, disk);
			const wrong = fault ?? (await recover(world, command, place));
			return {
				counts: { [`${command.name}, ${finished.code === 0 ? "had room" : "refused"}`]: 1 },
				broke: wrong && `${command.name} with ${room} bytes of room: ${wrong}`,
			};
		} finally {
			execFileSync("umount", ["-l", disk], { stdio: "ignore" });
			rmSync(disk, { recursive: true, force: true });
		}
	},
};

const chosen = commands.filter(({ name }) =>
	["pretrain", "prepare", "export", "simulate", "finetune"].includes(name),
);

/** Several concurrent processes on one folder, in some steps after an earlier one was killed. */
export const concurrent = {
	name: "together",
	share: 10,
	lanes: 1,
	async step(world, random, number) {
		const command = commandOf(number, chosen);
		const { seconds } = await referenceOf(world, command);
		const place = makePlace(world, command);
		let argv = argvOf(world, command.line, place);
		// The next processes find the lock of a dead one.
		if (random.uniform() < 0.5) {
			await run(argv, { killAfterMs: (0.5 + random.uniform() / 2) * seconds * 1000 });
			if (command.resume && random.uniform() < 0.8) argv = argvOf(world, command.resume, place);
		}
		const starters = 2 + random.integer(3);
		const spread = random.uniform() < 0.5 ? 0 : seconds * 500;
		const delays = Array.from({ length: starters }, () => random.uniform() * spread);
		const finished = await Promise.all(
			delays.map(async (delay) => {
				await pause(delay);
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
