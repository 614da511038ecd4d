import { expect, test } from "vitest";
import { efficiencyAt, type Network, sumSeconds } from "./mpi-network.js";

const network: Network = { latencySeconds: 1e-5, bytesPerSecond: 1e9, exchange: "ring" };

test("a ring sends N−1 messages twice, halving log₂ N", () => {
	// 2 · 3 · (10 µs + 1 MB / 1 GB/s)
	expect(sumSeconds(4e6, 4, network)).toBeCloseTo(2 * 3 * (1e-5 + 1e-3), 12);
	expect(sumSeconds(4e6, 4, { ...network, exchange: "halving" })).toBeCloseTo(
		2 * (2 * 1e-5 + 0.75 * 4e-3),
		12,
	);
	expect(sumSeconds(4e6, 1, network)).toBe(0);
});

test("efficiency is the part of a step in which processes compute", () => {
	const measured = { computeSeconds: 6.06e-3, bytes: 4e6 };
	expect(efficiencyAt(measured, 4, network)).toBeCloseTo(0.5, 6);
	expect(efficiencyAt(measured, 1, network)).toBe(1);
});
