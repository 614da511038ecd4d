import { expect, test } from "vitest";
import { chooseGpu } from "./launcher.js";

const chosen = (localRank: number, localSize: number, visible: string | undefined) => {
	const env: Record<string, string | undefined> = { CUDA_VISIBLE_DEVICES: visible };
	chooseGpu({ localRank, localSize }, env, ["0", "1", "2", "3"]);
	return env.CUDA_VISIBLE_DEVICES;
};

test("the local rank chooses the GPU", () => {
	expect([0, 1, 3].map((rank) => chosen(rank, 4, undefined))).toEqual(["0", "1", "3"]);
	expect(chosen(1, 2, "4,6")).toBe("6");
	expect(chosen(1, 2, "GPU-a,GPU-b")).toBe("GPU-b");
});

test("more processes than GPUs share them", () => {
	expect(chosen(5, 8, undefined)).toBe("1");
});

test("a launcher that gives each process its own GPU is left alone, and so is a process on its own", () => {
	expect(chosen(3, 4, "2")).toBe("2");
	expect(chosen(0, 1, undefined)).toBeUndefined();
	expect(chosen(1, 2, "")).toBe("");
});
