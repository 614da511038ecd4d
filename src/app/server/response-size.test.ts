import { expect, test } from "vitest";
import { running } from "./testing/running.js";
import { someEvents } from "./testing/small-served.js";

const patient = { events: someEvents(5) };

test("refuses a response that would be too long before the model computes it", async () => {
	const { post, service } = await running();
	const forecast = (times: number, top: number) =>
		post("/forecast", { patient, at: Array(times).fill("+1y"), top });
	expect(await forecast(256, 17)).toEqual({
		status: 422,
		body: {
			error: {
				status: 422,
				message:
					"top: 256 times × 17 codes are 4,352 values; expected at most 4,096 in one response: query fewer times or codes, or send several requests",
				field: "top",
			},
		},
	});
	const { body } = await post("/sessions", { patient });
	const session = { at: Array(256).fill("+1y"), top: 200 };
	const long = await post(`/sessions/${body.id}/forecast`, session);
	expect(long).toMatchObject({ status: 422, body: { error: { field: "top" } } });
	const codes = Array(16).fill("428");
	const risk = await post("/risk", {
		patient,
		codes,
		from: "2000-01-01",
		to: "2015-01-01",
		step: "1w",
	});
	expect(risk).toMatchObject({ status: 422, body: { error: { field: "codes" } } });
	expect(risk.body.error.message).toContain("783 times × 16 codes are 12,528 values");
	const calls = service.scheduler.started;
	expect((await forecast(256, 16)).status).toBe(200);
	expect(service.scheduler.started).toBe(calls + 1);
});
