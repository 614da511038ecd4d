import { expect, test } from "vitest";
import { nodeRuntime } from "../../engine/runtime/node.js";
import {
	attributeIncidence,
	hazardModel,
	incidenceReader,
	incidences,
	incidenceTrajectories,
	predictAt,
	representations,
} from "../../predict/index.js";
import { readRequestPatient } from "./api/predictions.js";
import { type Route, routes } from "./api/routes.js";
import type { Engine } from "./engine/engine.js";
import { ThreadEnded } from "./engine/engine.js";
import { gatekeeper, jsonIn, running } from "./testing/running.js";
import { smallServed, someEvents } from "./testing/small-served.js";

const patient = { sex: "female" as const, birth: "1950-06-01", events: someEvents(20) };
const at = ["+1y", "age:70", patient.events[7]?.date as string, "2001-01-01"];
const closeTo = (values: ArrayLike<number>) =>
	Array.from(values, (value) => expect.closeTo(value, 6));

test("a forecast equals the model's prediction, at times of every kind", async () => {
	const { post, served } = await running();
	const { model, config, weights } = served;
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	const predictor = model.predictor(runtime, config, weights);
	const { status, body } = await post("/forecast", { patient, at, top: 3 });
	expect(status).toBe(200);
	expect(routes.forecast.response.parse(body)).toEqual(body);
	expect(body.events).toBe(20);
	const { history } = readRequestPatient(patient, served).patient;
	const times = body.answers.map(({ day }: { day: number }) => day);
	const { logProbabilities, vocab, places } = await predictAt(predictor, [history], [times]);
	for (const [i, answer] of body.answers.entries()) {
		const own = Array.from(logProbabilities.subarray(i * vocab, (i + 1) * vocab), Math.exp);
		const best = own.slice(5).sort((a, b) => b - a);
		expect(answer.top.map((one: { probability: number }) => one.probability)).toEqual(
			closeTo(best.slice(0, 3)),
		);
		const [{ code, probability }] = answer.top;
		expect(own[served.vocabulary.find(code) as number]).toBeCloseTo(probability, 6);
		expect(answer).toMatchObject({ at: at[i], place: places[0]?.[i] });
	}
	expect(body.answers[1].ageYears).toBeCloseTo(70, 9);
	expect(body.answers[3].place).toBe("inside");
});

test("returns risks by horizon, their trajectory, surges and drivers", async () => {
	const { post, served, service } = await running();
	const query = { patient, codes: ["428", "I10"], attribute: "+0d", horizons: ["183d", "5y", 730] };
	const { status, body } = await post("/risk", { ...query, to: "+2y", step: "3m" });
	expect(status).toBe(200);
	expect(routes.risk.response.parse(body)).toEqual(body);
	const { history } = readRequestPatient(patient, served).patient;
	const hazards = hazardModel(nodeRuntime({ threads: 1, purpose: "inference" }), served);
	const times = body.times.map(({ day }: { day: number }) => day);
	const codes = ["428", "401"].map((code) => [served.vocabulary.find(code) as number]);
	const last = Date.parse(patient.events[19]?.date as string) / 86_400_000;
	expect(body.index.day).toBe(last);
	expect(body.horizons).toEqual([183, 1826.25, 730]);
	const [index = []] = await incidences(hazards, [history], codes, [[last]], body.horizons);
	const [own = []] = await incidenceTrajectories(
		incidenceReader(hazards),
		[history],
		codes,
		[times],
		1826.25,
	);
	expect(body.codes.map(({ code }: { code: string }) => code)).toEqual(["428", "401"]);
	expect(body.codes[1].note).toContain("I10: an ICD-10-CM code, so 401");
	const query2 = { risks: codes, days: [last], horizonDays: 1826.25 };
	const effects = await attributeIncidence(incidenceReader(hazards), history, query2);
	for (const [i, code] of body.codes.entries()) {
		expect(code.probabilities).toEqual(closeTo(index[i]?.probabilities ?? []));
		expect(code.recorded?.day ?? Number.NaN).toBe(index[i]?.recordedAt[0]);
		expect(code.risk).toEqual(closeTo(own[i]?.risk ?? []));
		const from = own[i]?.recorded.indexOf(1) as number;
		expect(code.recordedFrom).toBe(from < 0 ? null : from);
		expect(code.surges).toHaveLength(own[i]?.surges.length as number);
		expect(code.drivers).toHaveLength(20);
		// The first event of the history is the birth.
		for (const { event, effect } of code.drivers)
			expect(effect).toBeCloseTo(effects[i]?.effect[1 + event] ?? 0, 5);
		const sizes = code.drivers.map(({ effect }: { effect: number }) => Math.abs(effect));
		expect(sizes[0]).toBeGreaterThanOrEqual(sizes[19]);
	}
	await hazards.dispose();
	const callsFor = async (...codes: string[]) => {
		const before = service.scheduler.started;
		const { body } = await post("/risk", { patient, codes, attribute: "+1y" });
		expect(body.codes).toHaveLength(codes.length);
		return service.scheduler.started - before;
	};
	const ofOne = await callsFor("530");
	expect(await callsFor("530", "401", "250", "272", "495")).toBe(ofOne);
});

test("risk: groups, an index day, horizons beyond what was learned, simulated populations", async () => {
	const { post } = await running({ served: { ...smallServed(), simulated: true } });
	const at = "2008-01-01";
	const request = { patient, codes: ["Heart or vessels"], at, horizons: ["10y", "50y"] };
	const { status, body } = await post("/risk", request);
	expect(status).toBe(200);
	expect(routes.risk.response.parse(body)).toEqual(body);
	expect(body).toMatchObject({
		population: "simulated population, not real people",
		index: { date: at },
		horizons: [3652, 3652],
	});
	expect(body.codes[0]).toMatchObject({ code: "heart or vessels", recorded: null });
	expect(body.warnings).toContain(
		"the model has learned risks up to 10 years ahead; 50 years are answered as 10 years",
	);
});

test("every answer of a model of simulated people says so", async () => {
	const { post, get } = await running({ served: { ...smallServed(), simulated: true } });
	const said = { simulated: true, population: "simulated population, not real people" };
	expect((await post("/forecast", { patient, at: ["+1y"] })).body).toMatchObject(said);
	expect((await post("/embed", { patient })).body).toMatchObject(said);
	const session = (await post("/sessions", { patient })).body;
	expect(session).toMatchObject(said);
	const path = `/sessions/${session.id}`;
	expect((await post(`${path}/events`, { events: [] })).status).toBe(400);
	expect((await post(`${path}/forecast`, {})).body).toMatchObject(said);
	for (const path of ["model", "codes", "health"])
		expect(await (await get(`/api/v2/${path}`)).json()).toMatchObject(said);
	const real = await running();
	const { body } = await real.post("/forecast", { patient, at: ["+1y"] });
	expect([body.simulated, body.population]).toEqual([false, undefined]);
});

test("health says that the service answers, and what waits", async () => {
	const { hold, release, wrap } = gatekeeper();
	const { post, get } = await running({ wrap });
	const health = async () => {
		const body = await jsonIn(await get("/api/v2/health"));
		expect(routes.health.response.parse(body)).toEqual(body);
		return body;
	};
	expect(await health()).toEqual({
		...{ status: "ok", version: "0.0.0", simulated: false, waiting: 0, sessions: 0 },
	});
	await post("/sessions", { patient });
	hold();
	const asked = [post("/forecast", { patient }), post("/forecast", { patient })];
	await expect.poll(health).toMatchObject({ waiting: 1, sessions: 1 });
	release();
	await Promise.all(asked);
});

test("a model without hazards refuses risk with advice, and does the rest", async () => {
	const { post } = await running({ served: smallServed({}, undefined, null) });
	const { status, body } = await post("/risk", { patient, codes: ["428"] });
	expect(status).toBe(422);
	expect(body.error.message).toMatch(/has learned no hazards.*trajgpt pretrain/);
	expect((await post("/forecast", { patient, at: ["+1y"] })).status).toBe(200);
	expect((await post("/embed", { patient })).status).toBe(200);
});

test("embeds a history as a vector", async () => {
	const { post, served } = await running();
	const cut = patient.events[9]?.date as string;
	const { body } = await post("/embed", { patient, at: cut });
	expect(routes.embed.response.parse(body)).toEqual(body);
	const { tokens, times } = readRequestPatient(patient, served).patient.history;
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	const view = { tokens: tokens.subarray(0, 11), times: times.subarray(0, 11) };
	const [whole, part] = await Promise.all([
		representations(runtime, served, [{ tokens, times }]),
		representations(runtime, served, [view]),
	]);
	expect(body.vector).toEqual(closeTo(part as Float32Array));
	const all = await post("/embed", { patient });
	expect(all.body.vector).toEqual(closeTo(whole as Float32Array));
});

/** An engine that says how many events each call gave the model to read. */
function counted(read: number[]) {
	return (engine: Engine): Engine => ({
		...engine,
		observe(state, events) {
			read.push(events.reduce((sum, { times }) => sum + times.length, 0));
			return engine.observe(state, events);
		},
		forecast(query) {
			read.push("history" in query.of ? query.of.history.times.length : 0);
			return engine.forecast(query);
		},
	});
}

test("a session computes only new events, and predicts as from the whole history", async () => {
	const read: number[] = [];
	const { post, get, url } = await running({ wrap: counted(read) });
	const first = { ...patient, events: patient.events.slice(0, 17) };
	const { status, body } = await post("/sessions", { patient: first });
	expect(status).toBe(201);
	expect(routes.startSession.response.parse(body)).toEqual(body);
	const path = `/sessions/${body.id}`;
	for (const [i, event] of patient.events.slice(17).entries()) {
		const added = await post(`${path}/events`, { events: [event] });
		expect(added.body).toMatchObject({ events: 18 + i, unknown: [] });
	}
	const query = { at: ["+1y", "age:70"], top: 7 };
	const continued = await post(`${path}/forecast`, query);
	// 17 events and the birth, then one at a time, then a query.
	expect(read).toEqual([18, 1, 1, 1, 0]);
	expect(routes.sessionForecast.response.parse(continued.body)).toEqual(continued.body);
	const whole = await post("/forecast", { patient, ...query });
	for (const [i, { day, top }] of whole.body.answers.entries()) {
		expect(continued.body.answers[i].day).toBe(day);
		expect(continued.body.answers[i].top).toEqual(
			top.map((one: { probability: number }) => ({
				...one,
				probability: expect.closeTo(one.probability, 5),
			})),
		);
	}
	const again = { code: patient.events[19]?.code, date: patient.events[19]?.date };
	expect((await post(`${path}/events`, { events: [again] })).body.events).toBe(20);
	const early = await post(`${path}/events`, { events: [{ code: "401", date: "1999-01-01" }] });
	expect(early).toMatchObject({ status: 422, body: { error: { field: "events.0.date" } } });
	expect((await post(`${path}/forecast`, { at: ["-1y"] })).body.error.message).toContain(
		"lies before the session's last event",
	);
	const end = () => fetch(`${url}/api/v2${path}`, { method: "DELETE" });
	expect((await end()).status).toBe(204);
	expect((await end()).status).toBe(404);
	expect((await post(`${path}/forecast`, query)).status).toBe(404);
	expect((await get(`/api/v2${path}`)).status).toBe(405);
});

test("limits the number of sessions, and ends unused ones", async () => {
	const { post, service } = await running({ limits: { sessions: 2, sessionSeconds: 0.05 } });
	const start = () => post("/sessions", { patient: { events: [] } });
	expect((await start()).status).toBe(201);
	expect((await start()).status).toBe(201);
	await expect.poll(() => service.usage().sessions).toBe(0);
	const { body } = await start();
	await expect.poll(() => service.usage().sessions).toBe(0);
	const late = await post(`/sessions/${body.id}/forecast`, { at: ["2010-01-01"] });
	expect(late).toMatchObject({ status: 404 });
	expect(late.body.error.message).toContain("not used for 0.05 seconds");
	const full = await running({ limits: { sessions: 1 } });
	const open = () => full.post("/sessions", { patient: { events: [] } });
	const statuses = (await Promise.all([open(), open(), open()])).map(({ status }) => status);
	expect(statuses.sort()).toEqual([201, 503, 503]);
});

test("OpenAPI describes every route by the schemas that validate it", async () => {
	const { get } = await running();
	const api = await jsonIn(await get("/api/v2/openapi.json"));
	expect(api.openapi).toBe("3.1.0");
	const described = Object.entries(api.paths).flatMap(([path, methods]) =>
		Object.keys(methods as object).map((method) => `${method} ${path}`),
	);
	const own = (Object.values(routes) as Route[]).map(({ method, path }) => `${method} ${path}`);
	expect(described.sort()).toEqual(own.sort());
	const forecast = api.paths["/forecast"].post;
	const { ForecastRequest: schema } = api.components.schemas;
	expect(forecast.requestBody.content["application/json"].schema).toEqual({
		$ref: "#/components/schemas/ForecastRequest",
	});
	expect(schema.required).toEqual(["patient"]);
	expect(schema.properties.top).toMatchObject({ minimum: 1, maximum: 200, default: 10 });
	expect(schema.additionalProperties).toBe(false);
	const statuses = (path: string, method: string) =>
		Object.keys(api.paths[path][method].responses).join(" ");
	expect(statuses("/forecast", "post")).toBe("200 400 401 403 408 413 415 421 422 429 431 500 503");
	expect(statuses("/sessions/{id}", "delete")).toBe("204 400 401 403 404 408 421 429 431 500");
	expect(statuses("/model", "get")).toBe("200 400 401 408 421 429 431 500");
	const [id] = api.paths["/sessions/{id}/events"].post.parameters;
	expect(id).toMatchObject({ name: "id", in: "path", required: true });
	const model = await jsonIn(await get("/api/v2/model"));
	expect(routes.model.response.parse(model)).toMatchObject({ codes: 7, trained: { step: 12 } });
});

test("logs no patient data", async () => {
	const { post, get, logged } = await running();
	const secret = { code: "SECRET-CODE", date: "1987-06-05" };
	await post("/forecast", { patient: { birth: "1931-02-03", events: [secret] }, at: ["+1y"] });
	await post("/forecast", { patient: { events: [{ ...secret, SECRET: 1 }] } });
	await post("/risk", { patient: { events: [secret] }, codes: ["SECRET-CODE"] });
	await post("/sessions/SECRET-ID/forecast", { at: ["1987-06-05"] });
	await get("/SECRET-PATH?SECRET-QUERY=1");
	const text = () => logged.join("");
	await expect.poll(() => text().split('"msg":"request"').length).toBe(6);
	expect(text()).not.toMatch(/SECRET|1987|1931/);
	const lines = logged.map((line) => JSON.parse(line));
	expect(lines.at(-2)).toMatchObject({
		...{ method: "POST", route: "/api/v2/sessions/{id}/forecast", status: 404 },
		...{ service: "trajgpt", request: expect.any(String), ms: expect.any(Number) },
	});
});

test("logs the call and stack frames of a failing model, without the request", async () => {
	const whole = smallServed();
	const weights = new Map(whole.weights);
	weights.set("head", { shape: [1, 1], data: new Float32Array(1) });
	const { post, logged } = await running({ served: { ...whole, weights } });
	const { status, body } = await post("/forecast", { patient, at: ["+1y"] });
	expect(status).toBe(500);
	expect(body.error.message).toBe("internal error; see the log of the service");
	const lineOf = (name: string) =>
		logged.map((line) => JSON.parse(line)).find(({ msg }) => msg === name);
	const failure = lineOf("failure");
	expect(failure).toMatchObject({ operation: "forecast", error: expect.any(String) });
	await expect.poll(() => lineOf("request")?.request).toBe(failure.request);
	expect(failure.where.join()).toMatch(/at .*trajgpt.*:\d+:\d+/);
	for (const { code, date } of patient.events)
		for (const recorded of [`"${code}"`, date, patient.birth])
			expect(logged.join("")).not.toContain(recorded);
});

test("logs a thread that has died, and restarts it", async () => {
	let isDead = true;
	const { post, logged, url } = await running({
		wrap: (engine) => ({
			...engine,
			forecast: (query) => {
				if (isDead)
					return Promise.reject(
						new ThreadEnded({ operation: "forecast", error: "exit 1", where: [] }),
					);
				return engine.forecast(query);
			},
		}),
	});
	const response = await fetch(`${url}/api/v2/forecast`, {
		...{ method: "POST", body: JSON.stringify({ patient, at: ["+1y"] }) },
		headers: { "Content-Type": "application/json" },
	});
	expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
	const failure = logged.map((line) => JSON.parse(line)).find(({ msg }) => msg === "failure");
	expect(failure).toMatchObject({ operation: "forecast", error: "exit 1" });
	isDead = false;
	expect((await post("/forecast", { patient, at: ["+1y"] })).status).toBe(200);
});

test("needs no map if the dataset's codes were not mapped", async () => {
	const served = { ...smallServed(), map: undefined };
	const { post } = await running({ served });
	const { body } = await post("/forecast", {
		patient: {
			events: [
				{ code: "I10", date: 3 },
				{ code: "401", date: 9 },
			],
		},
		at: [20, "+1m"],
	});
	expect(body).toMatchObject({ events: 1, unknown: [{ code: "I10", records: 1 }] });
	expect(body.answers[0]).toMatchObject({ at: 20, day: 20, place: "after" });
	expect(body.answers[0]).not.toHaveProperty("date");
	const unmapped = { events: [{ code: "I10", date: 3 }] };
	const refused = await post("/forecast", { patient: unmapped, at: [20] });
	expect(refused.body.error.message).toBe(
		"patient has 1 record, none with a code that the model knows; check the codes and their system; accepted are ICD-9-CM and ICD-10-CM diagnoses (mapped to PheCodes), and those of PheCode; ICD codes need the map of the dataset, which was not given",
	);
});
