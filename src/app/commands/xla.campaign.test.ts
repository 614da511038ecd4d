import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import * as fake from "../../engine/runtime/pjrt/testing/fake-plugin.js";
import { pretrain } from "./pretrain.js";
import { done, refusal, smallModel, words } from "./testing/captured.js";
import { runBuilt } from "./testing/run-built.js";

test("--precision is for --provider xla", async () => {
	expect(await refusal`evaluate no-such-run --precision bf16`).toContain(
		"--precision bf16: cpu computes in float32; leave it out, or choose --provider xla",
	);
});

test("a plugin that does not exist is bad usage, whatever the command", async () => {
	fake.setDuringTest("TRAJGPT_PJRT_PLUGIN", "/no/plugin.so");
	const folder = await temporaryFolder();
	const run = join(folder, "run");
	const verbs =
		"pretrain --out RUN,finetune --task chf,evaluate,forecast,risk --code 428,compare --out RUN,ablate --out RUN";
	for (const verb of verbs.replaceAll("RUN", () => run).split(",")) {
		const [name = "", ...options] = verb.split(" ");
		const stderr = await refusal`${name} no-such-folder ${options} --provider xla`;
		expect(stderr, verb).toContain("--provider xla: /no/plugin.so does not exist");
	}
	expect(existsSync(run)).toBe(false);
});

describe.skipIf(!fake.hasCompiler)("on the fake plugin", () => {
	fake.choosePlugin();

	test("doctor shows the plugin and its device", async () => {
		const { stdout } = await done`doctor`;
		expect(stdout).toMatch(/ok {2}PJRT plugin +0\.114 +.*fake-plugin\.so\n/);
		expect(stdout).toMatch(/ok {2}Device +Fake GPU +1\.0 GiB usable\n/);
		expect(stdout).toMatch(/ok {2}Fused norms +off +XLA_FLAGS is --xla_disable_hlo_passes=triton/);
		fake.setDuringTest("XLA_FLAGS", "--xla_disable_hlo_passes=");
		expect((await done`doctor`).stdout).toMatch(
			/!! {2}Fused norms +on +can be wrong, see docs\/gpu\.md; XLA_FLAGS is/,
		);
		fake.failing("no-device");
		expect((await done`doctor`).stdout).toMatch(
			/!! {2}PJRT plugin +cannot be used +.* finds no device; check/,
		);
	});

	test("a worker thread names the flags, which it cannot set", async () => {
		const module = new URL("../../../dist/engine/runtime/pjrt/index.js", import.meta.url).href;
		const worker = new Worker(
			`import(${JSON.stringify(module)})
				.then(({ openDevices }) => openDevices())
				.catch(({ message }) => require("node:worker_threads").parentPort.postMessage(message));`,
			{ eval: true },
		);
		const [message] = await once(worker, "message");
		expect(message).toMatch(/^a worker thread cannot set XLA_FLAGS; .*='--xla_disable_hlo_passes=/);
		await worker.terminate();
	});

	const settings = words`${smallModel} --epochs 2 --batch-slots 512 --max-length 40`;

	async function smallDataset(folder: string): Promise<string> {
		const [people, data] = [join(folder, "people"), join(folder, "data")];
		await done`simulate --patients 64 --seed 5 --out ${people}`;
		await done`prepare ${people} --from csv --min-count 30 --out ${data}`;
		return data;
	}

	test("TRAJGPT_XLA_CHECK=1 finds that validation on the device differs from the CPU", async () => {
		const folder = await temporaryFolder();
		const argv = words`pretrain ${await smallDataset(folder)} ${settings} --provider xla --out`;
		fake.setDuringTest("TRAJGPT_XLA_CHECK", "1");
		expect(await refusal`${argv} ${join(folder, "checked")}`).toMatch(
			/error: XLA .* Fake GPU, tf32 computes wrong values: the difference of "loss\.\w+" to that of onnxruntime-node/,
		);
		fake.setDuringTest("TRAJGPT_XLA_CHECK", "0");
		await done`${argv} ${join(folder, "unchecked")}`;
	});

	test("without a device, the library writes nothing", async () => {
		const folder = await temporaryFolder();
		const dataset = await openDataset(await smallDataset(folder));
		const run = join(folder, "run");
		fake.failing("no-device");
		await expect(pretrain(dataset, run, { provider: "xla" })).rejects.toThrow(
			/`provider` xla: .* finds no device/,
		);
		expect(existsSync(run)).toBe(false);
	});

	test("several devices share each batch", async () => {
		fake.setDuringTest("FAKE_PJRT_DEVICES", "2");
		const folder = await temporaryFolder();
		const argv = words`pretrain ${await smallDataset(folder)} ${settings} --provider`;
		const out = (name: string) => ["--out", join(folder, name)];
		const { stdout } = await done`${argv} xla --devices 2 ${out("two")}`;
		expect(stdout).toContain("2 epochs");
		expect(await refusal`${argv} xla --devices 3 ${out("three")}`).toMatch(
			/--devices 3: .* finds 2; choose fewer/,
		);
		expect(await refusal`${argv} cpu --devices 2 ${out("cpu")}`).toContain(
			"--devices 2: cpu has none to share a batch",
		);
		for (const name of ["three", "cpu"]) expect(existsSync(join(folder, name))).toBe(false);
	});

	test("a run goes on on the CPU, and one of the CPU goes on here", async () => {
		const folder = await temporaryFolder();
		const data = await smallDataset(folder);
		for (const [first, second] of [
			["xla", "cpu"],
			["cpu", "xla"],
		] as const) {
			const argv = ["pretrain", data, "--out", join(folder, first)];
			const begun = await runBuilt([...argv, ...settings, "--provider", first], {
				...{ saying: "epoch 1:", signal: "SIGINT" },
			});
			expect(begun).toMatchObject({ code: 130, stdout: expect.stringContaining("--resume") });
			const resumed = await done`${argv} --resume --provider ${second}`;
			expect(resumed.stderr).toContain(
				`note: provider ${first} → ${second}; the weights may differ in their last digits`,
			);
			expect(resumed.stdout).toContain("2 epochs");
		}
	});
});
