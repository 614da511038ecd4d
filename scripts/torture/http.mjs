// Attacks on the service, while the latency of a well-behaved client is recorded.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { attacks, fairLoad, small } from "./attacks.mjs";
import { endGroup, finish, start as startCommand, startNode } from "./process.mjs";

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

async function startService(world) {
	const folder = mkdtempSync(join(world.folder, "service-"));
	writeFileSync(join(folder, "token"), `${token}\n`, { mode: 0o600 });
	const child = startCommand([
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
function memoryOf(pid) {
	try {
		const status = readFileSync(`/proc/${pid}/status`, "utf8");
		return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
	} catch {
		return Number.NaN;
	}
}

/**
 * The slope of memory in MiB per minute: least squares with a level per load, as loads need different
 * amounts. The first round of loads is warming up, and so is the first quarter of the time.
 */
function slopeOf(rests, loads) {
	const settled = rests.slice(Math.max(loads, Math.ceil(rests.length / 4)));
	let [over, under] = [0, 0];
	for (const load of new Set(settled.map((rest) => rest.load))) {
		const group = settled.filter((rest) => rest.load === load);
		const mean = (field) => group.reduce((sum, rest) => sum + rest[field], 0) / group.length;
		const [minute, MiB] = [mean("minute"), mean("MiB")];
		for (const rest of group) {
			over += (rest.minute - minute) * (rest.MiB - MiB);
			under += (rest.minute - minute) ** 2;
		}
	}
	return under > 0 ? over / under : undefined;
}

/** The well-behaved client, with its own address, so that limits per address do not affect it. */
async function wellBehaved({ port }, seconds) {
	const options = {
		...{ url: `http://127.0.0.1:${port}`, token, body: small, seconds, pauseMs: 20 },
		...(process.platform === "linux" && { localAddress: "127.0.0.2" }),
	};
	const { stdout, stderr } = await finish(startNode([client, JSON.stringify(options)]), {
		patienceMs: seconds * 1000 + 90_000,
	});
	if (stdout === "") throw new Error(`the well-behaved client failed: ${stderr.slice(-300)}`);
	return JSON.parse(stdout);
}

/** Fair load alternates with the attacks, so that both run under the same conditions. */
const loads = { nothing: async () => ({}), [fairName]: fairLoad, ...attacks };
export const loadNames = Object.keys(loads);

const rounded = (x, digits = 1) => Number(x.toFixed(digits));

const quantile = (values, q) =>
	[...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(q * values.length) - 1)] ?? Number.NaN;

export function httpCampaign(names = loadNames) {
	let service;
	const rests = [];
	const seen = {};
	const began = Date.now();

	const start = async (world) => {
		service = await startService(world);
	};
	const stop = () => {
		endGroup(service.child);
		rmSync(service.folder, { recursive: true, force: true });
		service = undefined;
	};
	/** What a load gets and the well-behaved client sees during it, and the most memory. */
	const during = async (load, seconds, random) => {
		const { child, port } = service;
		let peakMiB = 0;
		const watching = setInterval(() => {
			peakMiB = Math.max(peakMiB, memoryOf(child.pid) || 0);
		}, 200);
		const until = Date.now() + seconds * 1000;
		const [counts, asked] = await Promise.all([
			load({ port, token, random, until }),
			wellBehaved(service, seconds),
		]);
		clearInterval(watching);
		return { counts, ...asked, peakMiB };
	};

	return {
		name: "http",
		share: 30,
		lanes: 1,
		async begin(world, random) {
			await start(world);
			// The first requests of each kind compile.
			for (const load of [fairLoad, attacks["random requests"]])
				await during(load, world.attackSeconds / 2, random);
		},
		async step(world, random, number) {
			if (!service) {
				await start(world);
				await wellBehaved(service, world.attackSeconds / 2);
				rests.length = 0;
			}
			const name = names[number % names.length];
			const attack = await during(loads[name], world.attackSeconds, random);
			const { counts, latencies, failures, peakMiB } = attack;
			const problems = [];
			if (service.ended) problems.push(service.ended);
			else {
				const after = await wellBehaved(service, Math.min(1, world.attackSeconds));
				if (after.latencies.length === 0) problems.push("no answer after it");
				const minute = (Date.now() - began) / 60_000;
				const MiB = memoryOf(service.child.pid);
				rests.push({ load: name, minute, MiB });
				if (MiB > mostRestMiB) problems.push(`memory at rest is ${Math.round(MiB)} MiB`);
			}
			const failed = JSON.stringify(failures);
			if (failed !== "{}") problems.push(`the well-behaved client got ${failed}`);
			if (peakMiB > mostPeakMiB) problems.push(`memory rose to ${Math.round(peakMiB)} MiB`);
			const wrong = Object.keys(counts).filter((status) => /^5/.test(status) && status !== "503");
			if (wrong.length > 0) problems.push(`answered ${wrong.join(", ")}`);
			const before = seen[name] ?? { latencies: [], peakMiB: 0 };
			seen[name] = {
				latencies: [...before.latencies, ...latencies],
				peakMiB: Math.max(before.peakMiB, Math.round(peakMiB)),
			};
			// A service that failed under one attack is restarted before the next.
			if (problems.length > 0) stop();
			return {
				counts: Object.fromEntries(Object.entries(counts).map(([k, n]) => [`${name}, ${k}`, n])),
				broke: problems.length > 0 ? `${name}: ${problems.join("; ")}` : undefined,
			};
		},
		async end(world) {
			const broke = [];
			if (service) {
				const closed = new Promise((resolve) => service.child.on("exit", resolve));
				service.child.kill("SIGTERM");
				const how = await Promise.race([closed, pause(20_000, "late", { ref: false })]);
				if (how !== 0) broke.push(`the service did not end well on SIGTERM: ${how}`);
				stop();
			}
			const fair = quantile(seen[fairName]?.latencies ?? [], 0.99);
			const latencies = {};
			for (const [name, { latencies: all, peakMiB }] of Object.entries(seen)) {
				const p99 = quantile(all, 0.99);
				const timesFair = rounded(p99 / fair, 2);
				if (world.timing && all.length >= leastRequests && timesFair > patience)
					broke.push(
						`${name}: the well-behaved client's p99 was ${timesFair} times that at fair load`,
					);
				latencies[name] = {
					p50Ms: rounded(quantile(all, 0.5)),
					p99Ms: rounded(p99),
					timesFair,
					requests: all.length,
					peakMiB,
				};
			}
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
