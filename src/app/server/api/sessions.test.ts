import { afterEach, expect, test, vi } from "vitest";
import { localEngine } from "../engine/engine.js";
import { partsOf, smallServed } from "../testing/small-served.js";
import { sessions } from "./sessions.js";

afterEach(() => void vi.useRealTimers());

const limits = { sessions: 4, sessionSeconds: 60 };
const nobody = { events: [] };

test("unused sessions expire even if no request arrives", async () => {
	vi.useFakeTimers();
	let now = 0;
	const served = smallServed();
	const engine = localEngine(partsOf(served));
	const open = sessions(served, limits, () => now);
	const { id } = await open.start(nobody, engine);
	now = 61_000;
	vi.advanceTimersByTime(6000);
	// Back in time nothing would be too old: it is gone.
	now = 0;
	expect(open.size).toBe(0);
	expect(() => open.end(id)).toThrow("there is no such session");
	open.close();
	await engine.dispose();
});

test("closing forgets all sessions and stops the timer", async () => {
	vi.useFakeTimers();
	const served = smallServed();
	const engine = localEngine(partsOf(served));
	const open = sessions(served, limits);
	await open.start(nobody, engine);
	expect([open.size, vi.getTimerCount()]).toEqual([1, 1]);
	open.close();
	expect([open.size, vi.getTimerCount()]).toEqual([0, 0]);
	await engine.dispose();
});
