import { existsSync } from "node:fs";
import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Called by Vitest before the first test, in the process that starts the others. */
export async function setup(): Promise<() => Promise<void>> {
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-fixtures-"));
	process.env.TRAJGPT_FIXTURES = folder;
	return () => rm(folder, { recursive: true });
}

/**
 * A copy of a folder that several test files start from. The first caller makes it, the others copy it. Concurrent
 * first callers both make it, so that none waits. The caller removes the copy.
 */
export async function sharedFixture(
	name: string,
	make: (folder: string) => Promise<void>,
): Promise<string> {
	const kept = join(process.env.TRAJGPT_FIXTURES as string, name);
	const folder = await mkdtemp(join(tmpdir(), `trajgpt-${name}-`));
	const copy = (from: string, to: string) => cp(from, to, { recursive: true });
	if (existsSync(kept)) {
		await copy(kept, folder);
		return folder;
	}
	await make(folder);
	const whole = `${kept}-${process.pid}`;
	await copy(folder, whole);
	await rename(whole, kept).catch(() => rm(whole, { recursive: true }));
	return folder;
}
