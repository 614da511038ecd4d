import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Launcher, launchers, mpirun } from "./testing/mpirun.js";

const program = fileURLToPath(new URL("testing/talk.mjs", import.meta.url));

/** What a job of so many processes should print. */
function expected(size: number) {
	const ranks = Array.from({ length: size }, (_, rank) => rank);
	// In float64 and in order of rank, rounded once.
	const sums = Float32Array.from({ length: 1003 }, (_, i) =>
		ranks.reduce((sum, rank) => sum + Math.fround(Math.sin(i + 7 * rank) * 10 ** (i % 9)), 0),
	);
	const doubles = [
		ranks.reduce((sum, rank) => sum + 0.1 * (rank + 1), 0),
		ranks.reduce((sum, rank) => sum + rank, 0),
	];
	return {
		size,
		each: ranks.map((rank) => ({
			...{ rank, local: rank, of: size, said: { from: 0 }, sent: [1, 2, 3] },
			...{ none: false, last: true, doubles },
			hash: createHash("sha256").update(sums).digest("hex"),
		})),
		gathered: ranks.map((rank) => new Array(rank * 3).fill(rank + 1)),
	};
}

test.skipIf(launchers.length > 0)("needs Open MPI or MPICH", ({ skip }) => skip());

describe.each(launchers.map((launcher) => [launcher.name, launcher] as const))(
	"%s",
	(_, launcher) => {
		test.each([1, 2, 4])("%i processes sum, share and gather, to the bit", async (size) => {
			const { stdout, stderr, code } = await mpirun(launcher, size, [program]);
			expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
			expect(JSON.parse(stdout)).toEqual(expected(size));
		});

		test("a library that cannot be loaded is named", async () => {
			const env = { TRAJGPT_MPI_LIBRARY: "/nowhere/libmpi.so" };
			const { stderr, code } = await mpirun(launcher, 2, [program], env);
			expect(code).not.toBe(0);
			expect(stderr).toContain(
				`mpirun of ${launcher.name} started 2 processes, but TRAJGPT_MPI_LIBRARY=/nowhere/libmpi.so cannot be loaded as an MPI library; install it`,
			);
		});

		test("the library of the other implementation is named", async ({ skip }) => {
			if (launchers.length < 2) skip();
			const other = { "Open MPI": "libmpich.so.12", MPICH: "libmpi.so.40" }[launcher.name];
			const env = { TRAJGPT_MPI_LIBRARY: other };
			const { stderr, code } = await mpirun(launcher, 2, [program], env);
			expect(code).not.toBe(0);
			expect(stderr).toMatch(
				new RegExp(`started 2 processes, but with ${other} \\(.+\\) each sees 1; it belongs to`),
			);
		});
	},
);

describe("the MPI-5 ABI", () => {
	const mpich = launchers.find(({ name }) => name === "MPICH");
	const source = fileURLToPath(new URL("testing/abi-over-mpich.c", import.meta.url));
	const canCompile =
		spawnSync("gcc", ["-E", "-include", "dlfcn.h", "-x", "c", "/dev/null"]).status === 0;

	test.runIf(mpich && canCompile)("has handles of its own", async () => {
		const folder = mkdtempSync(join(tmpdir(), "trajgpt-abi-"));
		const library = join(folder, "libmpi_abi.so.0");
		try {
			const { status } = spawnSync("gcc", [
				"-shared",
				"-fPIC",
				"-w",
				"-o",
				library,
				source,
				"-ldl",
			]);
			expect(status).toBe(0);
			const env = { TRAJGPT_MPI_LIBRARY: library };
			const { stdout, stderr, code } = await mpirun(mpich as Launcher, 2, [program], env);
			expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
			expect(JSON.parse(stdout)).toEqual(expected(2));
		} finally {
			rmSync(folder, { recursive: true });
		}
	});
});
