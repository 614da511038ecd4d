import { expect, test } from "vitest";
import { captured } from "./testing/captured.js";

const launched = (rank: number) => ({ PMI_SIZE: "2", PMI_RANK: String(rank) });

test("a command that cannot be divided is refused under a launcher", async () => {
	const { code, stdout, stderr } = await captured(["describe", "data"], { env: launched(0) });
	expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
	expect(stderr).toMatch(
		/^error: mpirun of MPICH started 2 processes, and `trajgpt describe` runs in one; start it without a launcher \(processes share the work of: .*doctor\)\n$/,
	);
});

test.each([
	[["--help"], 0, "Usage: trajgpt"],
	[
		["describe", "data"],
		2,
		"error: mpirun of MPICH started 2 processes, and `trajgpt describe` runs",
	],
	[["describe", "--nonsense"], 2, "error: unknown option '--nonsense'"],
])("what is the same on all ranks, rank 0 alone prints: %o", async (argv, code, text) => {
	const other = await captured(argv, { env: launched(1) });
	expect(other).toEqual({ code, stdout: "", stderr: "" });
	const first = await captured(argv, { env: launched(0) });
	expect(first.code).toBe(code);
	expect(first[code === 0 ? "stdout" : "stderr"]).toContain(text);
	expect(first[code === 0 ? "stderr" : "stdout"]).toBe("");
});

test("a rank without the library says which it is", async () => {
	const env = { ...launched(1), TRAJGPT_MPI_LIBRARY: "/nowhere/libmpi.so" };
	const { code, stderr } = await captured(["doctor"], { env });
	expect(code).toBe(2);
	expect(stderr).toMatch(
		/^rank 1 of 2: error: mpirun of MPICH started 2 processes, but TRAJGPT_MPI_LIBRARY=/,
	);
});

test("processes may work on their own", async () => {
	const env = { ...launched(1), TRAJGPT_MPI_LIBRARY: "none" };
	const { code, stdout } = await captured(["--help"], { env });
	expect(code).toBe(0);
	expect(stdout).toContain("Usage: trajgpt");
});
