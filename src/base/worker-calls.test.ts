import { expect, test } from "vitest";
import { InputError } from "./errors.js";
import { answerCalls, callsByName, type WorkerReply, workerCalls } from "./worker-calls.js";

/** A caller and a worker with these methods, whose messages are cloned as between threads. */
function connected(methods: object) {
	const calls = workerCalls(
		(call) => answer(structuredClone(call)),
		(message: string) => new TypeError(message),
	);
	const answer = answerCalls(
		methods,
		(reply: WorkerReply<string>) => calls.receive(structuredClone(reply)),
		(error, method) => `${method}: ${(error as Error).message}`,
	);
	return calls;
}

test("calls are executed one after the other, in order", async () => {
	const log: string[] = [];
	const { call } = connected({
		async work(name: string, steps: number) {
			log.push(`${name} begins`);
			for (let i = 0; i < steps; i++) await undefined;
			log.push(`${name} ends`);
			return name;
		},
	});
	const { work } = callsByName<{ work(name: string, steps: number): Promise<string> }, "work">(
		["work"],
		call,
	);
	expect(await Promise.all([work("a", 20), work("b", 0)])).toEqual(["a", "b"]);
	expect(log).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});

test("errors keep their message, and input errors their class", async () => {
	const { call } = connected({
		refuse: (value: unknown) =>
			Promise.reject(new InputError("no such code", { field: "code", value: value ?? (() => {}) })),
		fail: () => Promise.reject(new RangeError("out of memory")),
		unclonable: () => () => {},
		fine: async () => 7,
	});
	const refused = { name: "InputError", message: "no such code", field: "code" };
	await expect(call("refuse", ["401x"])).rejects.toMatchObject({ ...refused, value: "401x" });
	await expect(call("refuse", [])).rejects.toMatchObject({ ...refused, value: undefined });
	await expect(call("refuse", [])).rejects.toBeInstanceOf(InputError);
	await expect(call("fail", [])).rejects.toThrow(new TypeError("fail: out of memory"));
	await expect(call("missing", [])).rejects.toThrow("missing: call is not a function");
	await expect(call("unclonable", [])).rejects.toThrow("could not be cloned");
	await expect(call("fine", [() => {}])).rejects.toThrow("could not be cloned");
	expect(await call("fine", [])).toBe(7);
});

test("once the worker has ended, its calls fail, and so do later ones", async () => {
	const calls = connected({ never: () => new Promise(() => {}) });
	const waiting = [calls.call("never", []), calls.call("never", [])];
	expect(calls.pending).toBe(2);
	calls.end((method) => new Error(`${method}: the worker has ended`));
	calls.end(() => new Error("again"));
	expect(calls.pending).toBe(0);
	for (const call of [...waiting, calls.call("later", [])])
		await expect(call).rejects.toThrow(/^(never|later): the worker has ended$/);
});
