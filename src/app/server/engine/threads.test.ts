import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { WorkerCall } from "../../../base/worker-calls.js";
import { partsOf, smallServed } from "../testing/small-served.js";
import { threadEngine } from "./engine.js";

/** Threads that do only what they are told to. */
function puppets() {
	const begun: (EventEmitter & { readonly calls: WorkerCall[]; ended: boolean })[] = [];
	const begin = () => {
		const own = Object.assign(new EventEmitter(), {
			calls: [] as WorkerCall[],
			ended: false,
			postMessage: (call: WorkerCall) => void own.calls.push(call),
			terminate: async () => {
				own.ended = true;
				return 1;
			},
		});
		begun.push(own);
		return own as never;
	};
	return { begun, begin };
}

const parts = partsOf(smallServed());
const history = { tokens: [7], times: [1] };
const state = {
	patients: 1,
	tokens: Int32Array.of(1),
	times: Float64Array.of(Number.NaN),
	memory: {},
};

test("a call goes to the least busy thread, and its result comes back", async () => {
	const { begun, begin } = puppets();
	const { observe, represent, width, dispose } = threadEngine(parts, 2, begin);
	expect([width, begun.length]).toEqual([2, 0]);
	const first = observe(state, [history]);
	const second = represent([history]);
	expect(begun.map(({ calls }) => calls.map(({ method }) => method))).toEqual([
		["observe"],
		["represent"],
	]);
	begun[1]?.emit("message", { id: 0, value: "a vector" });
	expect(await second).toBe("a vector");
	const failure = { operation: "observe", error: "TypeError", where: [] };
	begun[0]?.emit("message", { id: 0, failure });
	await expect(first).rejects.toMatchObject({
		...{ name: "CallFailed", failure },
		message: "observe failed with TypeError",
	});
	await dispose();
	expect(begun.map(({ ended }) => ended)).toEqual([true, true]);
});

test("a thread that dies fails its calls by name, and is restarted", async () => {
	const { begun, begin } = puppets();
	const { represent, observe } = threadEngine(parts, 1, begin);
	const asked = represent([history]);
	const other = observe(state, [history]);
	begun[0]?.emit("error", new RangeError("SECRET"));
	begun[0]?.emit("exit", 1);
	const ended = (operation: string) => ({
		name: "ThreadEnded",
		failure: { error: "RangeError", operation },
	});
	await expect(asked).rejects.toMatchObject(ended("represent"));
	await expect(other).rejects.toMatchObject(ended("observe"));
	await expect(asked).rejects.not.toThrow("SECRET");
	const again = represent([history]);
	expect(begun).toHaveLength(2);
	begun[1]?.emit("message", { id: begun[1]?.calls[0]?.id, value: "an answer" });
	expect(await again).toBe("an answer");
});
