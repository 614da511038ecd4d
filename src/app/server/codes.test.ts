import { expect, test } from "vitest";
import { searchCodes } from "../../predict/user-input/find-code.js";
import { jsonIn, running } from "./testing/running.js";
import { smallServed } from "./testing/small-served.js";

const ask = async (query: string, given: Parameters<typeof running>[0] = {}) => {
	const { get } = await running(given);
	const response = await get(`/api/v2/codes${query}`);
	return { status: response.status, body: await jsonIn(response) };
};
const codesIn = ({ body }: Awaited<ReturnType<typeof ask>>) =>
	body.codes.map(({ code }: { code: string }) => code);

test("gives the same codes in the same order as the page's search", async () => {
	const served = smallServed();
	const { vocabulary } = served;
	const { get } = await running({ served });
	for (const text of ["", "4", "name", "chf", "diabetes", "I10", "of 4", "sugar", "%00", "???"]) {
		const body = await jsonIn(
			await get(`/api/v2/codes?limit=200&search=${encodeURIComponent(text)}`),
		);
		const own = searchCodes(text, { vocabulary, map: undefined });
		expect(body.found).toBe(own.length);
		expect(body.codes).toEqual(
			own.map(({ at, ...how }) => {
				const { code, system, name, category, count } = vocabulary.tokens[at] as never;
				return { code, system, name, category, records: count, ...(how as object) };
			}),
		);
	}
});

test("lists all codes without a search, up to a limit", async () => {
	expect(codesIn(await ask(""))).toHaveLength(7);
	const some = await ask("?limit=2");
	expect(codesIn(some)).toHaveLength(2);
	expect(some.body.found).toBe(7);
	expect(some.body).not.toHaveProperty("population");
	const { body } = await ask("?limit=1", { served: { ...smallServed(), simulated: true } });
	expect(body.population).toBe("simulated population, not real people");
});

test.each([
	["?limit=0", "limit: Too small"],
	["?limit=201", "limit: Too big"],
	["?limit=1e3", "limit: Invalid input: expected number"],
	["?limit=-1", "limit: Invalid input"],
	["?limit=", "limit: Invalid input"],
	[`?search=${"a".repeat(201)}`, "search: Too big"],
	["?search=a&search=b", "a parameter is given twice"],
	["?__proto__=1&serach=stroke", "Unrecognized key"],
])("refuses %s", async (query, message) => {
	const { status, body } = await ask(query);
	expect(status).toBe(400);
	expect(body.error).toMatchObject({ status: 400, message: expect.stringContaining(message) });
});

test("answers hostile searches, and logs none", async () => {
	const { get, logged } = await running();
	for (const text of ["SECRET", "\u0000", "<script>", "..%2f", "'; --", "(.*)+$", "💔"])
		expect((await get(`/api/v2/codes?search=${encodeURIComponent(text)}`)).status).toBe(200);
	expect((await get("/api/v2/codes?search=%ff%fe")).status).toBe(200);
	expect(logged.join("")).not.toContain("SECRET");
});
