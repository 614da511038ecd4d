import { expect, test } from "vitest";
import { routes } from "./api/routes.js";
import { running } from "./testing/running.js";
import { smallServed, someEvents } from "./testing/small-served.js";

const patients = Array.from({ length: 20 }, (_, i) => ({
	...(i % 3 > 0 && { birth: `19${40 + i}-06-01`, sex: i % 2 ? "male" : "female" }),
	events: someEvents(1 + (i % 7), i),
}));

test("a batch of forecasts equals single forecasts, in the order of the patients", async () => {
	const { post } = await running();
	const query = { at: ["+1y", "+5y"], top: 3 };
	const { status, body } = await post("/forecast/batch", { patients, ...query });
	expect(status).toBe(200);
	expect(routes.forecastBatch.response.parse(body)).toEqual(body);
	expect(body).toMatchObject({ simulated: false, results: expect.any(Array) });
	expect(body.results).toHaveLength(patients.length);
	for (const [i, patient] of patients.entries()) {
		const { simulated: _, ...alone } = (await post("/forecast", { patient, ...query })).body;
		expect(body.results[i]).toEqual(alone);
	}
});

test("a batch of risks equals single risks", async () => {
	const { post } = await running({ served: { ...smallServed(), simulated: true } });
	const query = { codes: ["428", "I10", "heart or vessels"], horizons: ["1y", "50y"], at: "+1y" };
	const { status, body } = await post("/risk/batch", { patients, ...query });
	expect(status).toBe(200);
	expect(routes.riskBatch.response.parse(body)).toEqual(body);
	expect(body).toMatchObject({
		...{ simulated: true, population: "simulated population, not real people" },
		horizons: [365.25, 3652],
	});
	for (const [i, patient] of patients.entries()) {
		const alone = (await post("/risk", { patient, ...query })).body;
		expect(alone.warnings).toEqual([...body.results[i].warnings, ...body.warnings]);
		expect(body.results[i]).toMatchObject({ events: alone.events, index: alone.index });
		for (const [c, code] of body.results[i].codes.entries()) {
			const { probabilities, ...rest } = code;
			expect(alone.codes[c]).toMatchObject(rest);
			expect(probabilities).toEqual(
				alone.codes[c].probabilities.map((value: number) => expect.closeTo(value, 6)),
			);
		}
	}
});

const good = { events: [{ code: "401", date: "2010-03-01" }] };
const refused = async (path: string, request: object) => {
	const { post } = await running();
	const { status, body } = await post(path, request);
	return { status, ...body.error };
};

test.each([
	[
		{ patients: [good, { events: [{ code: "401", date: "soon" }] }] },
		{ status: 400, field: "patients.1.events.0.date", patient: 1 },
	],
	[
		{ patients: [good, good, { events: [{ code: "401" }] }] },
		{ status: 422, field: "patients.2.events.0", patient: 2 },
	],
	[
		{ patients: [good, { events: [{ code: "401", date: 12 }] }], at: ["2015-01-01"] },
		{ status: 422, patient: 1, message: expect.stringMatching(/^patients\.1: at/) },
	],
	[{ patients: [] }, { status: 400, field: "patients" }],
	[{ patients: Array(101).fill(good) }, { status: 400, field: "patients" }],
	[{ patient: good }, { status: 400 }],
])("refuses %# with the patient and the field", async (request, expected) => {
	for (const path of ["/forecast/batch", "/risk/batch"]) {
		const { at, ...rest } = request as { at?: string[] };
		const query =
			path === "/risk/batch" ? { codes: ["428"], ...(at && { at: at[0] }) } : { ...(at && { at }) };
		expect(await refused(path, { ...rest, ...query })).toMatchObject(expected);
	}
});

test("limits the size of a batch before the model computes", async () => {
	const many = { patients: Array(100).fill(good) };
	expect(await refused("/forecast/batch", { ...many, at: ["+1y", "+2y"], top: 21 })).toMatchObject({
		...{ status: 422, field: "top" },
		message: expect.stringContaining("100 patients × 2 times × 21 codes are 4,200 values"),
	});
	const risk = { ...many, codes: Array(16).fill("428"), horizons: Array(6).fill("1y") };
	expect(await refused("/risk/batch", risk)).toMatchObject({ status: 422, field: "codes" });
	expect(await refused("/risk/batch", { ...many, codes: ["nonsense"] })).toMatchObject({
		...{ status: 422, field: "codes.0" },
	});
});

test("a batch fills neither the queue nor the time of others", async () => {
	let most = 0;
	const { post, service } = await running({
		limits: { waiting: 8 },
		wrap: (engine) => ({
			...engine,
			forecast: (query) => {
				most = Math.max(most, service.scheduler.waiting);
				return engine.forecast(query);
			},
		}),
	});
	const { status, body } = await post("/forecast/batch", { patients: Array(100).fill(good) });
	expect([status, body.results.length]).toEqual([200, 100]);
	expect(most).toBeLessThan(8);
});

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
