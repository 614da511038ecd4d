// A well-behaved client in its own process: sends a request, waits for the response, pauses, repeats.
// node client.mjs '{"url":…,"token":…,"body":…,"seconds":…,"pauseMs":…,"localAddress":…}'
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const { url, token, body, seconds, pauseMs, localAddress } = JSON.parse(process.argv[2] ?? "{}");
const agent = new Agent({ keepAlive: true, maxSockets: 1, ...(localAddress && { localAddress }) });
const text = JSON.stringify(body);

/** Gives the status of a response. */
const ask = () =>
	new Promise((resolve, reject) => {
		const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
		const sent = request(`${url}/api/v2/forecast`, { method: "POST", agent, headers });
		sent.setTimeout(40_000, () => sent.destroy(new Error("no answer in 40 s")));
		sent.on("error", reject);
		sent.on("response", (answer) => {
			answer.resume();
			answer.on("error", reject);
			answer.on("end", () => resolve(answer.statusCode ?? 0));
		});
		sent.end(text);
	});

const latencies = [];
const failures = {};
const end = performance.now() + seconds * 1000;
while (performance.now() < end) {
	const began = performance.now();
	const result = await ask().catch((error) => error.code ?? error.message);
	if (result === 200) latencies.push(performance.now() - began);
	else failures[result] = (failures[result] ?? 0) + 1;
	await pause(pauseMs);
}
agent.destroy();
console.log(JSON.stringify({ latencies, failures }));
