import { readFile } from "node:fs/promises";
import ts from "typescript";
import { expect, test, vi } from "vitest";
import { routes } from "./api/routes.js";
import { jsonIn, running } from "./testing/running.js";
import { smallServed } from "./testing/small-served.js";

const page = new URL("../../../docs/embed.md", import.meta.url);
const section =
	(await readFile(page, "utf8")).split("\n## Over HTTP\n")[1]?.split("\n## ")[0] ?? "";
const blocks = (language: string) =>
	[...section.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map(
		([, text]) => text as string,
	);
const written = "http://127.0.0.1:7428";

test("the curl examples run", async () => {
	const calls = blocks("sh").filter((text) => text.startsWith("curl"));
	expect(calls).toHaveLength(2);
	const { url } = await running({ served: { ...smallServed(), simulated: true } });
	const bodies = [];
	for (const call of calls) {
		const [, address, header, body] =
			/^curl (\S+) -H "(Content-Type: [^"]+)" -d '([^']+)'\n$/.exec(call) ?? [];
		expect(address).toContain(written);
		const response = await fetch((address as string).replace(written, url), {
			method: "POST",
			headers: [(header as string).split(": ") as [string, string]],
			body: body as string,
		});
		expect(response.status).toBe(200);
		bodies.push(await jsonIn(response));
	}
	const [forecast, risk] = bodies;
	expect(forecast.answers[0].top).toHaveLength(2);
	const [shown, ...others] = blocks("json").map((text) =>
		routes.forecast.response.parse(JSON.parse(text)),
	);
	expect(others).toEqual([]);
	// The page shows another model's answer: the same but for what that model says.
	const said = {
		ageYears: expect.closeTo(forecast.answers[0].ageYears, 2),
		top: expect.any(Array),
	};
	expect(shown).toEqual({ ...forecast, answers: [{ ...forecast.answers[0], ...said }] });
	expect(risk.codes[0].drivers).toHaveLength(2);
	expect(risk.times.length).toBe(risk.codes[0].risk.length);
});

test("the session example with fetch runs", async () => {
	const [program, ...more] = blocks("ts");
	expect(more).toEqual([]);
	const { url, service } = await running();
	const shown: unknown[][] = [];
	const log = vi.spyOn(console, "log").mockImplementation((...line) => void shown.push(line));
	const text = ts
		.transpile(program as string, { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 })
		.replace(written, url);
	await import(`data:text/javascript,${encodeURIComponent(text)}`);
	log.mockRestore();
	expect(shown).toHaveLength(3);
	for (const [, name, probability] of shown) {
		expect(name).toMatch(/^name of /);
		expect(probability).toBeGreaterThan(0);
	}
	expect(service.usage().sessions).toBe(0);
});

test("every path in the guide exists in the service", async () => {
	const { get } = await running();
	const { paths } = await jsonIn(await get("/api/v2/openapi.json"));
	const named = [...section.matchAll(/^\| `(GET|POST|DELETE) (\S+)`/gm)].map(
		([, method, path]) => `${method?.toLowerCase()} /${path}`,
	);
	const own = Object.entries(paths).flatMap(([path, methods]) =>
		Object.keys(methods as object).map((method) => `${method} ${path}`),
	);
	expect(named.sort()).toEqual(own.sort());
});
