import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { jsonLog } from "../http/log.js";
import { CallFailed, framesOf, ThreadEnded } from "./call-failed.js";
import { errorIn, errorReply } from "./messages.js";

const broken = () => new RangeError("token 7 of SECRET\n    at SECRET (1987.js:6:5)");

/** As another thread hears of it. */
const sent = (error: unknown) => {
	const reply = structuredClone(
		errorReply({ id: 3, method: "queryWithin", args: ["SECRET"] }, error),
	);
	if ("value" in reply) throw new Error("it is a value");
	return errorIn(reply);
};

test("frames are places in the code, whatever a message looks like", () => {
	const frames = framesOf(broken());
	expect(frames[0]).toMatch(/^at broken \(.*call-failed\.test\.ts:\d+:\d+\)$/);
	expect(frames.join("\n")).not.toContain("SECRET");
	expect(framesOf("SECRET")).toEqual([]);
});

describe("a call that broke in another thread", () => {
	test("is told by its operation and where it broke, without what it was asked", () => {
		const failure = sent(broken());
		expect(failure).toBeInstanceOf(CallFailed);
		const logged: string[] = [];
		jsonLog({ write: (text) => logged.push(text) }).failure(failure, "r1");
		expect(logged).toHaveLength(1);
		expect(JSON.parse(logged[0] as string)).toMatchObject({
			...{ msg: "failure", request: "r1", operation: "queryWithin", error: "RangeError" },
			where: expect.arrayContaining([expect.stringMatching(/^at broken .*call-failed\.test\.ts/)]),
		});
		expect(logged[0]).not.toMatch(/SECRET|1987|token 7/);
	});

	test("keeps the words of a refusal, for whoever asked", () => {
		const refusal = sent(new InputError("times must not decrease"));
		expect(refusal).toBeInstanceOf(InputError);
		expect(refusal.message).toBe("times must not decrease");
	});

	test("or took the thread with it", () => {
		const ended = new ThreadEnded("observe", "exit 1", []);
		const logged: string[] = [];
		jsonLog({ write: (text) => logged.push(text) }).failure(ended, "r2");
		expect(JSON.parse(logged[0] as string)).toMatchObject({
			...{ operation: "observe", error: "exit 1", where: [] },
		});
	});
});
