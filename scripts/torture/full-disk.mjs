// A disk that fills up while a command writes: the command reports it, and resumes when there is space again.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { commands, makePlace, recover, referenceOf } from "./commands.mjs";
import { bytesIn } from "./files.mjs";
import { faultOf, run } from "./process.mjs";

const mount = (/** @type {string[]} */ ...args) => execFileSync("mount", args, { stdio: "ignore" });
const roomy = "size=1g";

/** @type {import("./torture.mjs").Campaign} */
export const fullDisk = {
	name: "full-disk",
	share: 10,
	lanes: 1,
	async step(world, random, number) {
		const command = /** @type {typeof commands[number]} */ (commands[number % commands.length]);
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
			const finished = await run(command.argv(world, place));
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
