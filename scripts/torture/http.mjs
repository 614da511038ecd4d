// Attacks on the service, while the latency of a well-behaved client is recorded.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { attacks, fairLoad, small } from "./attacks.mjs";
import { endGroup, finish, start, startNode } from "./process.mjs";

/** @typedef {import("./world.mjs").World} World */
/** @typedef {{ latencies: number[], failures: Record<string, number> }} Asked what a client saw; latencies in ms */

const token = "torture-token-of-the-campaign";
const client = fileURLToPath(new URL("client.mjs", import.meta.url));
/** Maximum p99 of the well-behaved client under attack, relative to its p99 at fair load. */
const patience = 3;
/** Minimum number of latencies for a p99. */
const leastRequests = 200;
const fairName = "fair load";
/** What docs/security.md promises. */
const mostRestMiB = 1024;
const mostPeakMiB = 2048;
/** Minimum rounds of all loads, without the first, to judge the slope of memory. */
const slopeRounds = 3;
/** MiB per minute. */
const mostSlope = 5;

/** @param {World} world */
async function startService(world) {
	const folder = mkdtempSync(join(world.folder, "service-"));
	writeFileSync(join(folder, "token"), `${token}\n`, { mode: 0o600 });
	const child = start([
		...["serve", world.served, "--no-explorer", "--port", "0"],
		...["--token-file", join(folder, "token"), "--log", join(folder, "log")],
	]);
	const service = { child, folder, port: 0, ended: "" };
	let stderr = "";
	child.stderr.on("data", (chunk) => {
		stderr = (stderr + chunk).slice(-2000);
	});
	child.on("exit", (code, signal) => {
		service.ended = `the service ended with ${signal ?? `exit ${code}`}: ${stderr.trim().slice(-300)}`;
	});
	await new Promise((resolve, reject) => {
		let stdout = "";
		child.on("exit", () => reject(new Error(service.ended)));
		child.stdout.on("data", (chunk) => {
			stdout += chunk;
			const port = /http:\/\/[^:/]+:(\d+)/.exec(stdout)?.[1];
			if (port === undefined) return;
			service.port = Number(port);
			resolve(undefined);
		});
	});
	return service;
}

/** Resident memory of a process in MiB, if the system provides it. */
function memoryOf(/** @type {number | undefined} */ pid) {
	try {
		const status = readFileSync(`/proc/${pid}/status`, "utf8");
		return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
	} catch {
		return Number.NaN;
	}
}

/** @typedef {{ load: string, minute: number, MiB: number }} Rest memory after a load */

/**
 * The slope of memory in MiB per minute: least squares with a level per load, as loads need different
 * amounts. The first round of loads is warming up, and so is the first quarter of the time.
 *
 * @param {readonly Rest[]} rests @param {number} loads
 */
function slopeOf(rests, loads) {
	const settled = rests.slice(Math.max(loads, Math.ceil(rests.length / 4)));
	let [over, under] = [0, 0];
	for (const load of new Set(settled.map((rest) => rest.load))) {
		const group = settled.filter((rest) => rest.load === load);
		const mean = (/** @type {"minute" | "MiB"} */ field) =>
			group.reduce((sum, rest) => sum + rest[field], 0) / group.length;
		const [minute, MiB] = [mean("minute"), mean("MiB")];
		for (const rest of group) {
			over += (rest.minute - minute) * (rest.MiB - MiB);
			under += (rest.minute - minute) ** 2;
		}
	}
	return under > 0 ? over / under : undefined;
}

/** The well-behaved client, with its own address, so that limits per address do not affect it. */
async function wellBehaved(
	/** @type {{ port: number }} */ { port },
	/** @type {number} */ seconds,
) {
	const options = {
		...{ url: `http://127.0.0.1:${port}`, token, body: small, seconds, pauseMs: 20 },
		...(process.platform === "linux" && { localAddress: "127.0.0.2" }),
	};
	const { stdout, stderr } = await finish(startNode([client, JSON.stringify(options)]), {
		patienceMs: seconds * 1000 + 90_000,
	});
	if (stdout === "") throw new Error(`the well-behaved client failed: ${stderr.slice(-300)}`);
	return /** @type {Asked} */ (JSON.parse(stdout));
}

/**
 * Fair load alternates with the attacks, so that both run under the same conditions.
 *
 * @type {Record<string, typeof fairLoad>}
 */
const loads = { nothing: async () => ({}), [fairName]: fairLoad, ...attacks };
export const loadNames = Object.keys(loads);

const rounded = (/** @type {number} */ x, digits = 1) => Number(x.toFixed(digits));

/** @param {number[]} values @param {number} q */
const quantile = (values, q) =>
	[...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(q * values.length) - 1)] ?? Number.NaN;

/**
 * @param {readonly string[]} [only] loads; all if left out
 * @returns {import("./torture.mjs").Campaign}
 */
export function httpCampaign(only) {
	/** @type {Awaited<ReturnType<typeof startService>> | undefined} */
	let service;
	/** @type {Rest[]} */
	const rests = [];
	/** @type {Record<string, { latencies: number[], peakMiB: number }>} by load, of all its steps */
	const seen = {};
	const names = only ?? loadNames;
	const began = Date.now();

	const during = async (
		/** @type {number} */ seconds,
		/** @type {(until: number) => Promise<Record<string, number>>} */ load,
	) => {
		const server = /** @type {NonNullable<typeof service>} */ (service);
		let peak = 0;
		const watching = setInterval(() => {
			peak = Math.max(peak, memoryOf(server.child.pid) || 0);
		}, 200);
		const until = Date.now() + seconds * 1000;
		const [counts, asked] = await Promise.all([load(until), wellBehaved(server, seconds)]);
		clearInterval(watching);
		return { counts, ...asked, peak };
	};

	return {
		name: "http",
		share: 30,
		lanes: 1,
		async begin(world, random) {
			service = await startService(world);
			const { port } = service;
			// The first requests of each kind compile.
			for (const load of [fairLoad, attacks["random requests"]])
				await during(world.attackSeconds / 2, (until) =>
					/** @type {typeof fairLoad} */ (load)({ port, token, random, until }),
				);
		},
		async step(world, random, number) {
			if (!service) {
				service = await startService(world);
				await wellBehaved(service, world.attackSeconds / 2);
				rests.length = 0;
			}
			const server = service;
			const name = /** @type {string} */ (names[number % names.length]);
			const load = /** @type {typeof fairLoad} */ (loads[name]);
			const { counts, latencies, failures, peak } = await during(world.attackSeconds, (until) =>
				load({ port: server.port, token, random, until }),
			);
			const problems = [];
			if (server.ended) problems.push(server.ended);
			else {
				const after = await wellBehaved(server, Math.min(1, world.attackSeconds));
				if (after.latencies.length === 0) problems.push("no answer after it");
				const minute = (Date.now() - began) / 60_000;
				const MiB = memoryOf(server.child.pid);
				rests.push({ load: name, minute, MiB });
				if (MiB > mostRestMiB) problems.push(`memory at rest is ${Math.round(MiB)} MiB`);
			}
			const failed = JSON.stringify(failures);
			if (failed !== "{}") problems.push(`the well-behaved client got ${failed}`);
			if (peak > mostPeakMiB) problems.push(`memory rose to ${Math.round(peak)} MiB`);
			const wrong = Object.keys(counts).filter((status) => /^5/.test(status) && status !== "503");
			if (wrong.length > 0) problems.push(`answered ${wrong.join(", ")}`);
			const before = seen[name] ?? { latencies: [], peakMiB: 0 };
			seen[name] = {
				latencies: [...before.latencies, ...latencies],
				peakMiB: Math.max(before.peakMiB, Math.round(peak)),
			};
			// A service that failed under one attack is restarted before the next.
			if (problems.length > 0) {
				endGroup(server.child);
				rmSync(server.folder, { recursive: true, force: true });
				service = undefined;
			}
			return {
				counts: Object.fromEntries(Object.entries(counts).map(([k, n]) => [`${name}, ${k}`, n])),
				broke: problems.length > 0 ? `${name}: ${problems.join("; ")}` : undefined,
			};
		},
		async end(world) {
			const broke = [];
			if (service) {
				const { child, folder } = service;
				const closed = new Promise((resolve) => child.on("exit", resolve));
				child.kill("SIGTERM");
				const late = new Promise((resolve) => setTimeout(resolve, 20_000, "late").unref());
				const how = await Promise.race([closed, late]);
				if (how !== 0) broke.push(`the service did not end well on SIGTERM: ${how}`);
				endGroup(child);
				rmSync(folder, { recursive: true, force: true });
			}
			const fair = quantile(seen[fairName]?.latencies ?? [], 0.99);
			const latencies = Object.fromEntries(
				Object.entries(seen).map(([name, { latencies, peakMiB }]) => {
					const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
					const timesFair = rounded(p99 / fair, 2);
					const isJudged = world.timing && latencies.length >= leastRequests;
					if (isJudged && timesFair > patience)
						broke.push(
							`${name}: the well-behaved client's p99 was ${timesFair} times that at fair load`,
						);
					const figures = { p50Ms: rounded(p50), p99Ms: rounded(p99), timesFair };
					return [name, { ...figures, requests: latencies.length, peakMiB }];
				}),
			);
			const slope = slopeOf(rests, names.length);
			const isJudged = rests.length >= names.length * (slopeRounds + 1);
			if (slope !== undefined && isJudged && slope > mostSlope)
				broke.push(`memory rises by ${slope.toFixed(1)} MiB per minute`);
			const memory = {
				restMiB: rests.map(({ MiB }) => Math.round(MiB)),
				rounds: rounded(rests.length / names.length),
				slopeMiBPerMinute: slope === undefined ? null : rounded(slope),
			};
			return { figures: { latencies, memory }, broke: broke.join("; ") || undefined };
		},
	};
}
