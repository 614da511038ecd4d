import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { run } from "./run.js";
import { type Captured, captured } from "./testing/captured.js";
import { interruptedDemo, small } from "./testing/interrupted-demo.js";

interface Row {
	readonly who: string;
	readonly metrics: Readonly<Record<string, { readonly value: number }>>;
}

/** In a terminal: asks the address that is printed, then presses Ctrl-C. */
async function explored(out: string, paths: readonly string[]) {
	let stdout = "";
	let answered: Promise<(readonly [number, string])[]> | undefined;
	const ask = async (path: string) => {
		const response = await fetch(new URL(path, /http:\S+/.exec(stdout)?.[0]));
		return [response.status, await response.text()] as const;
	};
	const io = {
		stdout: {
			isTTY: true,
			write: (text: string) => {
				stdout += text;
				if (text.includes("Ctrl-C ends it"))
					answered = Promise.all(paths.map(ask)).finally(() => process.emit("SIGINT"));
			},
		},
		stderr: { write: () => undefined },
		env: {},
	};
	const code = await run(["demo", "--out", out, "--threads", "1"], io);
	return { code, stdout, answers: (await answered) ?? [] };
}

describe("demo", () => {
	let folder: string;
	let out: string;
	/** A demo that Ctrl-C stopped and the same command finished. */
	let resumed: Captured;
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "trajgpt-demo-"));
		out = join(folder, "demo");
	});
	afterAll(() => rm(folder, { recursive: true }));

	test("an interrupted demo is resumed, and all stages run", async () => {
		const stopped = await interruptedDemo(out, small, "epoch 1: validation");
		expect(stopped.code).toBe(130);
		expect(stopped.stderr).toContain("[1/6] simulating 30 people (about ");
		expect(stopped.stderr).toContain("run the same command to continue");
		resumed = await captured(["demo", "--out", out, "--threads", "1", "--json"]);
		expect(resumed.code).toBe(0);
		expect(resumed.stderr).not.toMatch(/simulating|epoch 1: validation next/);
		expect(resumed.stderr).toContain("epoch 2: validation next");
		// With this seed, the people have labels to train and to validate with.
		expect(resumed.stderr).toMatch(
			/\[4\/6\] fine-tuning to insulin .*\n(.*\n)*.*epoch 1: validation/,
		);
		expect(resumed.stderr).not.toContain("skipped");
		expect(existsSync(join(out, "run", "tasks", "insulin", "best"))).toBe(true);
		const report = JSON.parse(resumed.stdout);
		expect(report.settings).toEqual({ patients: 30, epochs: 2, seed: 27 });
		const { next, forecast } = report.evaluations;
		expect(forecast.patients).toBeGreaterThan(0);
		expect(next.patients).toBe(report.counts.splits.test.patients);
		const nats = Object.fromEntries(
			next.rows.map((row: Row) => [row.who, row.metrics.nats?.value as number]),
		);
		expect(nats.oracle).toBeLessThan(nats.model as number);
		expect(nats.history).toBeLessThan(nats.global as number);
		expect(forecast.patients).toBeLessThan(next.patients);
		const page = await readFile(report.report, "utf8");
		expect(page).toContain("<h1");
		expect(page).toContain((nats.model as number).toFixed(3));

		const again = await captured(["demo", "--out", out, "--json"]);
		expect(again).toMatchObject({ code: 0, stdout: resumed.stdout });
		expect(again.stderr).toMatch(/^done in /);
		const text = (await captured(["demo", "--out", out])).stdout;
		expect(text).toContain((nats.model as number).toFixed(3));
		expect(text).toContain(`The report, with figures: ${join(out, "run", "report.html")}`);
		expect(text).toContain(`trajgpt describe ${join(out, "dataset")}`);

		const { code, stdout, answers } = await explored(out, ["/", "/api/v2/model"]);
		expect(code).toBe(0);
		expect(stdout).toMatch(/\nThe explorer: http:\/\/127\.0\.0\.1:\d+\/ {2}\(Ctrl-C ends it\)\n$/);
		const [[status, html], [, model]] = answers as [[number, string], [number, string]];
		expect(status).toBe(200);
		expect(html).toContain("<title>trajgpt explorer</title>");
		expect(JSON.parse(model)).toMatchObject({ model: { id: "trajgpt" } });

		const mixed = await captured(["demo", "--out", out, "--seed", "5"]);
		expect(mixed.code).toBe(2);
		expect(mixed.stderr).toContain("was begun with --seed 27, not 5; leave the option out");
	});

	test("starts over with --fresh, only in a folder of a demo", async () => {
		const demo = (out: string, ...more: string[]) =>
			captured(["demo", "--out", out, ...small, ...more]);
		const other = join(folder, "other");
		await mkdir(other);
		await writeFile(join(other, "thesis.txt"), "mine");
		for (const more of [[], ["--fresh"]]) {
			const refused = await demo(other, ...more);
			expect(refused.code).toBe(2);
			expect(refused.stderr).toContain("holds files but no demo.json");
		}
		expect(await readdir(other)).toEqual(["thesis.txt"]);

		const settings = join(out, "demo.json");
		await writeFile(join(out, "notes.txt"), "mine");
		await writeFile(settings, "{");
		const damaged = await demo(out);
		expect(damaged.code).toBe(2);
		expect(damaged.stderr).toContain(`${settings} is damaged or of another version; pass --fresh`);
		// Whoever started this test is a process that is alive and not this one.
		const lock = join(out, "run", "run.lock");
		await writeFile(lock, JSON.stringify({ pid: process.ppid, host: hostname() }));
		const held = await demo(out, "--fresh");
		expect(held.code).toBe(2);
		expect(held.stderr).toContain(`process ${process.ppid} is at work on this run (${lock})`);
		expect(existsSync(settings)).toBe(true);
		await rm(lock);
		const fresh = await interruptedDemo(out, ["--fresh", ...small], "epoch 1: validation");
		expect(fresh.code).toBe(130);
		expect(fresh.stderr).toContain("simulating 30 people (");
		expect(existsSync(join(out, "run", "tasks"))).toBe(false);
		expect(existsSync(join(out, "notes.txt"))).toBe(true);
	});

	test("reports that there are too few people to learn from", async () => {
		const out = join(await temporaryFolder(), "few");
		const { code, stderr } = await captured(["demo", "--out", out, "--patients", "2"]);
		expect(code).toBe(2);
		expect(stderr).toContain("among training patients");
	});
});

test("all help texts state the same duration", async () => {
	for (const argv of [["--help"], ["demo", "--help"]])
		expect((await captured(argv)).stdout).toMatch(/ a few minutes/);
});
