import { expect, test } from "vitest";
import { ownPackage } from "../../base/files/versions.js";
import { atLeast, render } from "./doctor.js";
import { done } from "./testing/captured.js";

test("doctor --json runs the engine and describes the machine", async () => {
	const { stdout, stderr } = await done`doctor --json`;
	expect(stderr).toBe("");
	const report = JSON.parse(stdout);
	expect(report).toMatchObject({
		ok: true,
		machine: { trajgptVersion: ownPackage.version, nodeVersion: process.versions.node },
		engine: { works: true, detail: "a product and its gradient were run on the cpu" },
	});
	expect(report.engine.onnxruntimeVersion).toMatch(/^1\.\d+\.\d+$/);
	expect(report.machine.threads).toBeGreaterThan(0);
	expect(report.machine.memoryFreeBytes).toBeLessThanOrEqual(report.machine.memoryTotalBytes);
	expect(report.optional.map(({ name }: { name: string }) => name)).toEqual(["PyTorch"]);
});

const machine = {
	trajgptVersion: "1.2.3",
	nodeVersion: "20.19.0",
	nodeNeeded: ">=20.19",
	nodeIsRecentEnough: true,
	platform: "linux x64",
	processor: "A Processor",
	cores: 4,
	threads: 2,
	memoryTotalBytes: 8 * 2 ** 30,
	memoryFreeBytes: 6.5 * 2 ** 30,
	folder: "/data",
	diskFreeBytes: 20 * 2 ** 30,
};

test("the table is aligned and gives advice", () => {
	const table = render({
		ok: false,
		machine,
		engine: {
			onnxruntimeVersion: null,
			works: false,
			detail: "libonnxruntime.so.1: cannot open shared object file",
		},
		accelerator: {
			...{ plugin: null, pjrtVersion: null, devices: [], xlaFlags: null, problem: null },
			searched: ["A_VARIABLE", "/a/folder"],
		},
		mpi: { libraries: [], processes: 1, local: 1 },
		optional: [
			{
				name: "PyTorch",
				found: null,
				detail: null,
				purpose: "the peer",
				advice: "on Debian: apt-get install x",
			},
			{
				name: "Another",
				found: "140.0",
				detail: "/usr/bin/another",
				purpose: "pages",
				advice: null,
			},
		],
	});
	expect(table).toMatchInlineSnapshot(`
		"trajgpt 1.2.3
		  ok  Node          20.19.0
		  !!  ONNX Runtime  does not load  libonnxruntime.so.1: cannot open shared object file; install the dependencies again: npm ci

		This machine
		      Platform      linux x64      A Processor
		      Cores         4              2 threads used by default
		      Memory        8.0 GiB        6.5 GiB free
		      Disk          20.0 GiB free  in /data

		Accelerator, for --provider xla
		  --  PJRT plugin   not found      for an NVIDIA GPU: pip install "jax[cuda13]"
		      Searched      2 places       A_VARIABLE, /a/folder

		MPI, for several processes
		  --  Library       not found      on Debian: apt-get install openmpi-bin; on a cluster: load its module

		Optional
		  --  PyTorch       not found      the peer; on Debian: apt-get install x
		  ok  Another       140.0          pages; /usr/bin/another

		Not ready: see the lines marked !!.
		"
	`);
});

test.each([
	["20.19.0", "20.19", true],
	["20.18.3", "20.19", false],
	["22.0.0", "20.19", true],
	["18.20.0", "20.19", false],
])("version %s against %s: %s", (version, needed, expected) => {
	expect(atLeast(version, needed)).toBe(expected);
});
