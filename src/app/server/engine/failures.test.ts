import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { answerCalls, type WorkerReply, workerCalls } from "../../../base/worker-calls.js";
import { jsonLog } from "../log.js";
import { CallFailed, type Failure, failureOf, framesOf, ThreadEnded } from "./engine.js";

const broken = () => new RangeError("token 7 of SECRET\n    at SECRET (1987.js:6:5)");

/** How a call fails whose method throws the error in another thread. */
const thrownElsewhere = async (error: unknown): Promise<Error> => {
	const { call, receive } = workerCalls(
		(sent) => answer(structuredClone(sent)),
		(failure: Failure) => new CallFailed(failure),
	);
	const answer = answerCalls(
		{ queryWithin: () => Promise.reject(error) },
		(reply: WorkerReply<Failure>) => receive(structuredClone(reply)),
		failureOf,
	);
	return call("queryWithin", ["SECRET"]).then(
		() => new Error("it did not fail"),
		(failed) => failed,
	);
};

test("extracts stack frames, whatever the message looks like", () => {
	const frames = framesOf(broken());
	expect(frames[0]).toMatch(/^at broken \(.*failures\.test\.ts:\d+:\d+\)$/);
	expect(frames.join("\n")).not.toContain("SECRET");
	expect(framesOf("SECRET")).toEqual([]);
});

describe("a call that failed in another thread", () => {
	test("reports its operation and stack frames, without the request", async () => {
		const failure = await thrownElsewhere(broken());
		expect(failure).toBeInstanceOf(CallFailed);
		const logged: string[] = [];
		jsonLog({ write: (text) => logged.push(text) }).failure(failure, "r1");
		expect(logged).toHaveLength(1);
		expect(JSON.parse(logged[0] as string)).toMatchObject({
			...{ msg: "failure", request: "r1", operation: "queryWithin", error: "RangeError" },
			where: expect.arrayContaining([expect.stringMatching(/^at broken .*failures\.test\.ts/)]),
		});
		expect(logged[0]).not.toMatch(/SECRET|1987|token 7/);
	});

	test("keeps the message of an input error", async () => {
		const refusal = await thrownElsewhere(new InputError("times must not decrease"));
		expect(refusal).toBeInstanceOf(InputError);
		expect(refusal.message).toBe("times must not decrease");
	});

	test("reports that the thread ended", () => {
		const ended = new ThreadEnded({ operation: "observe", error: "exit 1", where: [] });
		const logged: string[] = [];
		jsonLog({ write: (text) => logged.push(text) }).failure(ended, "r2");
		expect(JSON.parse(logged[0] as string)).toMatchObject({
			...{ operation: "observe", error: "exit 1", where: [] },
		});
	});
});
