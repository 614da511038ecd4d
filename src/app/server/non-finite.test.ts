import { expect, test } from "vitest";
import { jsonIn, running } from "./testing/running.js";
import { smallServed, someEvents } from "./testing/small-served.js";

const patient = { events: someEvents(5) };

/** A model whose weights have overflowed. */
const overflowed = () => {
	const served = smallServed();
	for (const { data } of served.weights.values()) data.fill(3e38);
	return served;
};

test.each([
	["forecast", { patient, at: ["+1y"] }],
	["risk", { patient, codes: ["428"], at: "+1y" }],
	["embed", { patient }],
])(
	"%s: refuses a prediction that is not finite, instead of sending null",
	async (path, request) => {
		const { url } = await running({ served: overflowed() });
		const response = await fetch(`${url}/api/v2/${path}`, {
			method: "POST",
			headers: { "Content-Type": "application/json" },
			body: JSON.stringify(request),
		});
		expect(response.status).toBe(422);
		expect(JSON.stringify(await jsonIn(response))).toMatch(
			/the model's (prediction|representation of the history|value for a history) is NaN, expected a finite number/,
		);
	},
);
