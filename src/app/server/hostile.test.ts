import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { securityHeaders } from "./refusal.js";
import { document, filesIn } from "./static-files.js";
import { gatekeeper, running } from "./testing/running.js";
import { smallServed, someEvents } from "./testing/small-served.js";
import { head, heard, opened } from "./testing/sockets.js";

const patient = { events: someEvents(5) };
const good = { patient, at: ["+1y"] };

describe("refuses malformed requests with a message", () => {
	const field = (code: string, date: unknown) => ({ patient: { events: [{ code, date }] } });
	test.each<[string, unknown, number, string]>([
		["half of it", '{"patient": {', 400, "the request is not JSON; send what /api"],
		["nothing", "", 400, "the request is not JSON"],
		[
			"a key twice",
			'{"patient":{"events":[{"code":"401","date":3}]},"at":["+1y"],"at":["+2y"]}',
			400,
			'the request holds the key "at" twice in one object; leave one out',
		],
		["another value", "17", 400, "the request: Invalid input: expected object"],
		["deep lists", "[".repeat(500_000), 400, "nested more than 16 deep"],
		["deep objects", '{"a":'.repeat(100_000), 400, "nested more than 16 deep"],
		["brackets in a text", { patient: { events: [], sex: "[[{{".repeat(40) } }, 400, "patient.sex"],
		["an unknown field", { ...good, __proto__x: 1 }, 400, 'Unrecognized key: "__proto__x"'],
		["a bad prototype", '{"__proto__": {"at": []}}', 400, "patient: is missing: expected object"],
		["no such date", field("401", "2010-02-30"), 400, "patient.events.0.date: is neither a date"],
		["no finite number", '{"patient":{"events":[{"code":"401","date":1e999}]}}', 400, "0.date"],
		["an empty code", field("", "2010-02-03"), 400, "patient.events.0.code: Too small"],
		[
			"too many events",
			{ patient: { events: Array(5001).fill(0) } },
			400,
			"patient.events: Too big",
		],
		["too many times", { ...good, at: Array(257).fill("+1y") }, 400, "at: Too big"],
		["a moment that is none", { ...good, at: ["soon"] }, 422, "at.0: Expected a date (2015-06-01)"],
		[
			"before the birth",
			{
				patient: { birth: "2000-01-01", events: [{ code: "401", age: 3 }] },
				at: ["1999-01-01"],
			},
			422,
			"at.0 lies before the birth; choose a later time",
		],
		[
			"no record",
			{ patient: { events: [] }, at: ["2010-01-01"] },
			422,
			"patient has no record; a prediction needs at least one",
		],
	])("%s", async (_, body, status, message) => {
		const { post } = await running();
		const response = await post("/forecast", body);
		expect(response.status).toBe(status);
		expect(response.body.error.message).toContain(message);
	});

	test("invalid codes and steps", async () => {
		const { post } = await running();
		const risk = async (more: object) => (await post("/risk", { patient, ...more })).body.error;
		expect((await risk({ codes: Array(17).fill("428") })).message).toContain("codes: Too big");
		expect((await risk({ codes: ["nonsense"] })).message).toMatch(
			/^codes\.0 is no code of the model, nor one near it; expected one of its 7 codes, or an ICD/,
		);
		expect((await risk({ codes: ["428"], step: "1 hour" })).message).toContain(
			"step: Expected a length",
		);
		expect((await risk({ codes: ["428"], to: "+9y", step: "1d" })).message).toContain(
			"at most 1024",
		);
		expect((await risk({ codes: ["428"], at: ["+1y"] })).field).toBe("at");
		expect((await risk({ codes: ["428"], horizons: ["5 years"] })).field).toBe("horizons.0");
		expect((await risk({ codes: ["428"], horizon: 0 })).field).toBe("horizon");
		const from = await risk({ codes: ["428"], from: "+2y", to: "+1y" });
		expect(from).toMatchObject({
			status: 422,
			message: "from lies after to; exchange them, or leave one out",
			field: "from",
		});
		const long = { patient: { events: someEvents(129) }, codes: ["428"], attribute: "+1y" };
		expect((await post("/risk", long)).body.error).toMatchObject({
			...{ status: 422, field: "attribute" },
			message: expect.stringContaining("and there are 129; expected at most 128: choose an"),
		});
	});
});

test("a refusal names the field, but repeats nothing of the request", async () => {
	const { post } = await running();
	const born = { patient: { birth: "1944-02-11", events: [{ code: "401", date: "2010-03-01" }] } };
	const unborn = { patient: { events: [{ code: "401", date: "2010-03-01" }] } };
	const counted = { patient: { events: [{ code: "401", date: 731.5 }] } };
	const stranger = { patient: { events: [{ code: "Q-secret", date: 1943.5 }] } };
	const early = "1943-07-08";
	const cases: readonly [string, object, string, string][] = [
		["/forecast", { ...born, at: ["+1y", early] }, "at.1", "lies before the birth"],
		["/forecast", { ...unborn, at: ["age:67"] }, "at.0", "is an age, but the birth is not known"],
		["/forecast", { ...unborn, at: ["731.5"] }, "at.0", "is a day, but these records have dates"],
		["/forecast", { ...counted, at: [early] }, "at.0", "is a date, but these records count days"],
		["/forecast", { ...stranger, at: [67] }, "patient", "has 1 record, none with a code"],
		["/forecast", { ...born, at: ["1943-02-31"] }, "at.0", "There is no such date"],
		["/embed", { ...born, at: early }, "at", "lies before the birth"],
		["/risk", { ...born, codes: ["428"], from: early }, "from", "lies before the birth"],
		["/risk", { ...born, codes: ["428"], to: early }, "to", "lies before the birth"],
		["/risk", { ...born, codes: ["428"], attribute: early }, "attribute", "lies before the birth"],
		["/risk", { ...born, codes: ["428"], at: early }, "at", "lies before the birth"],
		["/risk", { ...born, codes: ["428", "F20.1"] }, "codes.1", "is mapped to a PheCode which"],
		["/risk", { ...born, codes: ["Q-secret"] }, "codes.0", "is no code of the model"],
	];
	for (const [path, request, field, problem] of cases) {
		const { status, body } = await post(path, request);
		expect([path, status, body.error.field]).toEqual([path, 422, field]);
		expect(body.error.message).toContain(problem);
		expect(JSON.stringify(body)).not.toMatch(/194[34]|731|67|F20|secret|patient \d/i);
	}
	const served = { ...smallServed(), map: undefined };
	const { post: ask } = await running({ served });
	const { message } = (await ask("/risk", { ...born, codes: ["I10"] })).body.error;
	expect(message).toContain("(here none is: the service was started without the map)");
});

test("refuses other methods with those allowed, and compressed bodies", async () => {
	const { url, post } = await running();
	const ask = async (method: string, path: string) => {
		const response = await fetch(`${url}/api/v2${path}`, { method });
		return [response.status, response.headers.get("Allow")];
	};
	for (const method of ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
		expect([method, ...(await ask(method, "/forecast"))]).toEqual([method, 405, "POST"]);
	expect(await ask("POST", "/model")).toEqual([405, "GET"]);
	expect(await ask("HEAD", "/model")).toEqual([200, null]);
	expect(await ask("POST", "/sessions/none")).toEqual([405, "DELETE"]);
	expect(await ask("GET", "/nothing")).toEqual([404, null]);
	const packed = await post("/forecast", good, { "Content-Encoding": "gzip" });
	expect(packed).toMatchObject({ status: 415, body: { error: expect.any(Object) } });
	expect(packed.body.error.message).toContain("is compressed; send it as it is");
});

test("refuses bodies that are too large, by their Content-Length and by their actual size", async () => {
	const { post, service } = await running({ limits: { bodyBytes: 10_000 } });
	const big = await post("/forecast", { patient: { events: [] }, padding: "x".repeat(20_000) });
	expect(big).toMatchObject({ status: 413 });
	expect(big.body.error.message).toContain("larger than 10,000 bytes");
	const socket = await opened(service.port);
	const response = heard(socket);
	socket.write(head("/forecast", "Transfer-Encoding: chunked"));
	for (let i = 0; i < 3; i++) socket.write(`1388\r\n${"x".repeat(5000)}\r\n`);
	expect(await response).toContain("413 Payload Too Large");
	expect((await post("/forecast", good)).status).toBe(200);
	expect(service.usage().bodyBytes).toBe(0);
});

test("limits the bytes of all bodies together", async () => {
	const { post, service } = await running({ limits: { bodiesBytes: 8000 } });
	const slow = await opened(service.port);
	slow.on("error", () => {});
	slow.write(head("/forecast", "Content-Length: 9000") + "x".repeat(7500));
	await expect.poll(() => service.usage().bodyBytes).toBe(7500);
	const refused = await post("/forecast", { ...good, at: Array(200).fill("2010-01-01") });
	expect(refused).toMatchObject({ status: 503 });
	slow.destroy();
	await expect.poll(() => service.usage().bodyBytes).toBe(0);
	expect((await post("/forecast", good)).status).toBe(200);
});

/** Checks a refusal: JSON, with the headers of every response. */
function expectRefused(response: string, status: number, message: string): void {
	const [top = "", body = ""] = response.split("\r\n\r\n");
	expect(top).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
	for (const [name, value] of Object.entries(securityHeaders))
		expect(top).toContain(`\r\n${name}: ${value}`);
	expect(JSON.parse(body)).toEqual({ error: { status, message } });
}

test("answers bytes that are not HTTP with a message", async () => {
	const { service } = await running();
	const responseTo = async (text: string) => {
		const socket = await opened(service.port);
		const response = heard(socket);
		socket.write(text);
		return response;
	};
	expectRefused(await responseTo("NONSENSE\r\n\r\n"), 400, "the request is not HTTP");
	expectRefused(
		await responseTo(head("/forecast", `X-Long: ${"x".repeat(20_000)}`)),
		431,
		"the headers of the request are too large; send fewer or shorter ones",
	);
	const get = "GET /api/v2/model HTTP/1.1\r\n";
	const nameless = await responseTo(`${get}Connection: close\r\n\r\n`);
	expect(nameless).toMatch(/^HTTP\/1\.1 421 /);
	expect(nameless).toContain("the name in the Host header");
	const expecting = `${get}Host: localhost\r\nExpect: wonders\r\nConnection: close\r\n\r\n`;
	expect(await responseTo(expecting)).toMatch(/^HTTP\/1\.1 200 /);
});

test("limits the connections of one address", async () => {
	const { service } = await running({ limits: { connectionsPerAddress: 2 } });
	const first = await Promise.all([opened(service.port), opened(service.port)]);
	const third = await opened(service.port);
	expect(await heard(third)).toBe("");
	expect(service.usage().connections).toBe(2);
	for (const socket of first) socket.destroy();
	await expect.poll(() => service.usage().connections).toBe(0);
});

test("closes a connection without traffic", async () => {
	const { service } = await running({ limits: { silenceMs: 50 } });
	const silent = await opened(service.port);
	expect(await heard(silent)).toBe("");
	await expect.poll(() => service.usage().connections).toBe(0);
});

test("does not wait for slow clients", async () => {
	const limits = { headMs: 60, requestMs: 120, checkMs: 20 };
	const { get, service } = await running({ limits });
	const sockets = await Promise.all(Array.from({ length: 20 }, () => opened(service.port)));
	const responses = sockets.map(heard);
	for (const [i, socket] of sockets.entries())
		if (i % 2) socket.write("POST /api/v2/forecast HTTP/1.1\r\nHost: local");
		else socket.write(`${head("/forecast", "Content-Length: 100")}{"patient"`);
	for (const response of await Promise.all(responses))
		expectRefused(response, 408, "the request took too long to arrive; send it without pauses");
	await expect.poll(() => service.usage()).toMatchObject({ connections: 0, bodyBytes: 0 });
	expect((await get("/api/v2/model")).status).toBe(200);
});

test("stops computing when the client hangs up", async () => {
	const { hold, release, wrap } = gatekeeper();
	hold();
	const { post, service } = await running({ wrap });
	const first = post("/forecast", good);
	await expect.poll(() => service.scheduler.started).toBe(1);
	const leaving = new AbortController();
	const left = fetch(`http://127.0.0.1:${service.port}/api/v2/forecast`, {
		...{ method: "POST", body: JSON.stringify(good), signal: leaving.signal },
		headers: { "Content-Type": "application/json" },
	}).catch(() => "left");
	await expect.poll(() => service.usage().waiting).toBe(1);
	leaving.abort();
	expect(await left).toBe("left");
	await expect.poll(() => service.usage().waiting).toBe(0);
	release();
	expect((await first).status).toBe(200);
	expect(service.scheduler.started).toBe(1);
});

test("gives up a response that takes too long", async () => {
	const { post } = await running({
		limits: { answerMs: 30 },
		wrap: (engine) => ({
			...engine,
			forecast: () => new Promise(() => {}),
		}),
	});
	const { status, body } = await post("/forecast", good);
	expect(status).toBe(503);
	expect(body.error.message).toBe(
		"the request took too long; send fewer events or times, leave attribute out, or try again",
	);
});

test("accepts only its own names in the Host header", async () => {
	const { service } = await running({ names: ["Forecasts.example"] });
	const status = async (host: string) => {
		const socket = await opened(service.port);
		const response = heard(socket);
		socket.write(`GET /api/v2/model HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
		return (await response).slice(9, 12);
	};
	for (const host of [
		"localhost",
		"127.0.0.1:80",
		"[::1]:7428",
		"LOCALHOST:1",
		"forecasts.example",
	])
		expect([host, await status(host)]).toEqual([host, "200"]);
	for (const host of [
		"evil.example",
		"localhost.evil.example",
		"127.0.0.1@evil",
		"",
		"a b",
		"[::2]",
	])
		expect([host, await status(host)]).toEqual([host, expect.stringMatching(/4(21|00)/)]);
});

test("pages of other origins can neither send requests nor frame the page", async () => {
	const { post, get, url } = await running();
	const elsewhere = { Origin: "http://evil.example" };
	expect((await post("/forecast", good, elsewhere)).status).toBe(403);
	expect((await post("/forecast", good, { Origin: url })).status).toBe(200);
	expect((await post("/forecast", good, { "Content-Type": "text/plain" })).status).toBe(415);
	const { headers } = await get("/api/v2/model");
	expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
	expect(headers.get("X-Frame-Options")).toBe("DENY");
});

test("every response has the security headers, and allows only its own scripts", async () => {
	const files = new Map([["/index.html", document("{}")]]);
	const { get, service } = await running({ files });
	for (const path of ["/", "/api/v2/model", "/nothing", "/api/v2/openapi.json"]) {
		const { headers } = await get(path);
		for (const [name, value] of Object.entries(securityHeaders))
			expect([path, name, headers.get(name)]).toEqual([path, name, value]);
	}
	const policy = securityHeaders["Content-Security-Policy"] as string;
	expect(policy).toContain("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'");
	expect(policy).not.toMatch(/'unsafe-(inline|eval)'|https?:|\*/);
	expect((await get("/api/v2/model")).headers.get("Cache-Control")).toBe("no-store");
	const bad = await opened(service.port);
	const response = heard(bad);
	bad.write("GET /api/v2/model HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
	expect((await response).toLowerCase()).toContain("x-frame-options: deny");
});

test("requires the token for everything but the sign-in", async () => {
	const token = "correct-horse-battery";
	const files = new Map([["/index.html", document('"the page"')]]);
	const { get, post, url, logged } = await running({ token, files });
	for (const path of [
		"/api/v2/model",
		"/api/v2/openapi.json",
		"/api/v2/health",
		"/api/page.js",
		"/index.html",
		"/explorer/x.json",
	])
		expect([path, (await get(path)).status]).toEqual([path, 401]);
	expect((await post("/forecast", good)).status).toBe(401);
	const bearer = (value: string) => ({ Authorization: `Bearer ${value}` });
	const guessed = await get("/api/v2/model", bearer(`${token}x`));
	expect(guessed.status).toBe(401);
	expect(await guessed.text()).toContain("that is not the token: send it as");
	expect((await get("/api/v2/model", bearer(token))).status).toBe(200);
	expect((await post("/forecast", good, bearer(token))).status).toBe(200);

	const request = await get("/");
	expect([request.status, request.headers.get("Location")]).toEqual([303, "/sign-in"]);
	expect(await (await get("/sign-in")).text()).toContain('<form method="post">');
	const signIn = (given: string, headers: Record<string, string> = {}) =>
		fetch(`${url}/sign-in`, {
			...{ method: "POST", redirect: "manual", body: new URLSearchParams({ token: given }) },
			headers,
		});
	const wrong = await signIn("guess");
	expect([wrong.status, wrong.headers.get("Set-Cookie")]).toEqual([401, null]);
	const right = await signIn(token);
	const cookie = right.headers.get("Set-Cookie") as string;
	expect(right.status).toBe(303);
	expect(cookie).toMatch(/^trajgpt=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/);
	for (const said of [
		{ Origin: "https://forecasts.example" },
		{ "X-Forwarded-Proto": "https" },
		{ Forwarded: "for=192.0.2.1;proto=https;host=forecasts.example" },
	] as Record<string, string>[])
		expect((await signIn(token, said)).headers.get("Set-Cookie")).toMatch(
			/^trajgpt=[\w-]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
		);
	for (const said of [{ Origin: url }, { "X-Forwarded-Proto": "http" }] as Record<string, string>[])
		expect((await signIn(token, said)).headers.get("Set-Cookie")).toBe(cookie);
	expect(cookie).not.toContain(token);
	const Cookie = cookie.split(";")[0] as string;
	expect(await (await get("/", { Cookie })).json()).toBe("the page");
	expect((await get("/", { Cookie: "trajgpt=guess" })).status).toBe(303);
	expect(logged.join("")).not.toContain(token);
});

test("on shutdown, cuts off requests that take too long", async () => {
	const { hold, wrap, release } = gatekeeper();
	hold();
	const { post, service } = await running({ wrap, limits: { closeMs: 20 } });
	const request = post("/forecast", good).catch(() => "cut off");
	await expect.poll(() => service.scheduler.started).toBe(1);
	await service.close();
	expect(await request).toBe("cut off");
	release();
});

test("serves only files of the folder, by their URL path", async () => {
	const folder = await temporaryFolder();
	await mkdir(join(folder, "assets"));
	await writeFile(join(folder, "assets", "index-B4x9_kQz.js"), "1");
	await writeFile(join(folder, "large.bin"), new Uint8Array(2 ** 24));
	await writeFile(join(folder, "export.json"), '{"kind":"x"}');
	const { get, url, service } = await running({ files: await filesIn(folder, "/model/") });
	const manifest = await get("/model/export.json");
	expect(manifest.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
	expect(await manifest.json()).toEqual({ kind: "x" });
	const tag = manifest.headers.get("ETag") as string;
	expect((await get("/model/export.json", { "If-None-Match": tag })).status).toBe(304);
	const script = await get("/model/assets/index-B4x9_kQz.js");
	expect(script.headers.get("Cache-Control")).toContain("immutable");
	expect((await fetch(`${url}/model/large.bin`, { method: "HEAD" })).status).toBe(200);
	expect((await (await get("/model/large.bin")).arrayBuffer()).byteLength).toBe(2 ** 24);
	const ask = async (path: string) => {
		const socket = await opened(service.port);
		socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
		return socket;
	};
	for (const path of [
		...["/../package.json", "/model/../../package.json", "/model/%2e%2e/package.json"],
		...["/model/..%2f..%2fpackage.json", "/model//export.json", "/%00", "/model/export.json%00"],
	])
		expect([path, (await heard(await ask(path))).slice(9, 12)]).toEqual([path, "404"]);
	for (let i = 0; i < 20; i++) {
		const leaving = await ask("/model/large.bin");
		leaving.on("error", () => {});
		await new Promise((resolve) => leaving.once("data", resolve));
		leaving.destroy();
	}
	await expect.poll(() => service.usage().connections).toBeLessThan(5);
	expect((await get("/api/v2/model")).status).toBe(200);
});
