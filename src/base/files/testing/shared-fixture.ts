import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Called by Vitest before the first test, in the process that starts the others. */
export async function setup(): Promise<() => Promise<void>> {
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-fixtures-"));
	process.env.TRAJGPT_FIXTURES = folder;
	return () => rm(folder, { recursive: true });
}

/**
 * A copy of a folder that several test files start from. The first caller makes it; the others wait for it, and copy
 * it. All go away after the last test.
 */
export async function sharedFixture(
	name: string,
	make: (folder: string) => Promise<void>,
): Promise<string> {
	const fixtures = process.env.TRAJGPT_FIXTURES as string;
	const kept = join(fixtures, name);
	const [making, claim] = [`${kept}-${process.pid}`, `${kept}-claim`];
	while (!existsSync(kept)) {
		if (!(await isClaimed(claim))) {
			await setTimeout(100);
			continue;
		}
		try {
			// Another caller may have made it between the look and the claim.
			if (existsSync(kept)) continue;
			await mkdir(making);
			await make(making);
			await rename(making, kept);
		} finally {
			// After a failure, the next caller tries.
			await rm(making, { recursive: true, force: true });
			await rm(claim, { recursive: true });
		}
	}
	const folder = await mkdtemp(join(fixtures, `${name}-copy-`));
	await cp(kept, folder, { recursive: true });
	return folder;
}

/** Whether the caller is the one that has made a folder. */
const isClaimed = (folder: string): Promise<boolean> =>
	mkdir(folder).then(
		() => true,
		() => false,
	);
