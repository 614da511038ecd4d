// Hostile and greedy HTTP clients. Each runs until its time is up, then disconnects.
import { connect } from "node:net";

/** @typedef {import("../../dist/base/random.js").Random} Random */
/** @typedef {{ port: number, token: string, random: Random, until: number }} Target */
/** @typedef {Record<string, number>} Counts how often what came of it */

const history = Array.from({ length: 60 }, (_, i) => ({
	code: ["401", "250", "272", "428"][i % 4],
	date: `20${String(i % 20).padStart(2, "0")}-03-01`,
}));
export const small = {
	patient: { sex: "female", birth: "1950-06-01", events: history.slice(0, 8) },
};
const bodies = {
	/** A small request with the largest allowed response: times × top is 4,096. */
	large: {
		...small,
		at: Array.from({ length: 256 }, (_, i) => `+${i + 1}m`),
		top: 16,
	},
	/** The longest history, and the largest response on risks: codes × times is 8,192. */
	long: {
		patient: {
			...small.patient,
			events: Array.from({ length: 5000 }, (_, i) => ({
				code: ["401", "250", "272", "428"][i % 4],
				date: new Date(i * 86_400_000).toISOString().slice(0, 10),
			})),
		},
	},
	risks: {
		...small,
		codes: Array(16).fill("428"),
		from: "2010-01-01",
		to: "2019-10-01",
		step: "1w",
	},
	embed: { patient: { ...small.patient, events: history } },
	attribute: { patient: { ...small.patient, events: history }, codes: ["428"], attribute: "+1y" },
};

/** @param {Target} target @param {string} path @param {string | Buffer} body @param {Record<string, string>} headers */
function rawRequest({ port, token }, path, body, headers = {}, method = "POST") {
	const all = {
		Host: `127.0.0.1:${port}`,
		"Content-Type": "application/json",
		"Content-Length": String(Buffer.byteLength(body)),
		Authorization: `Bearer ${token}`,
		...headers,
	};
	const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
	return Buffer.concat([
		Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1"),
		Buffer.from(body),
	]);
}

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A connection that forgets its errors, and what was read of it if it is read. */
function open(/** @type {Target} */ { port }, { read = true } = {}) {
	const socket = connect(port, "127.0.0.1");
	const state = { socket, text: "", closed: false };
	socket.on("error", () => {});
	socket.on("close", () => {
		state.closed = true;
	});
	if (read)
		socket.on(
			"data",
			(chunk) => (state.text = (state.text + chunk.toString("latin1")).slice(0, 4096)),
		);
	else socket.pause();
	return state;
}

/** Keeps `count` connections open, each renewed when it ends, until the time is up. */
async function keeping(
	/** @type {Target} */ target,
	/** @type {number} */ count,
	/** @type {(target: Target) => Promise<string>} */ once,
) {
	/** @type {Counts} */
	const counts = {};
	await Promise.all(
		Array.from({ length: count }, async () => {
			while (Date.now() < target.until) {
				const result = await once(target);
				counts[result] = (counts[result] ?? 0) + 1;
			}
		}),
	);
	return counts;
}

/** Sends all bytes at once and reads until the connection ends, the time is up or a response has arrived. */
async function exchange(
	/** @type {Target} */ target,
	/** @type {Buffer} */ bytes,
	{ answers = 1, read = true } = {},
) {
	const state = open(target, { read });
	state.socket.write(bytes);
	let seen = 0;
	state.socket.on("data", (chunk) => {
		seen += chunk.toString("latin1").split("HTTP/1.1 ").length - 1;
	});
	if (!read) state.socket.pause();
	while (!state.closed && Date.now() < target.until && seen < answers) await pause(20);
	state.socket.destroy();
	const status = /HTTP\/1\.1 (\d{3})/.exec(state.text)?.[1];
	if (status) return status;
	return state.closed ? "closed" : "held";
}

const post = (
	/** @type {Target} */ target,
	/** @type {string} */ path,
	/** @type {unknown} */ body,
	/** @type {Record<string, string>} */ headers = {},
) => exchange(target, rawRequest(target, path, JSON.stringify(body), headers));

/** A body that arrives a byte at a time. */
async function slowly(
	/** @type {Target} */ target,
	/** @type {string} */ path,
	/** @type {Record<string, string>} */ headers,
) {
	const state = open(target);
	const length = { "Content-Length": String(1024 ** 2 - 1), ...headers };
	state.socket.write(rawRequest(target, path, "{", length));
	// Most of the body at once, so that the service buffers much; then single bytes.
	state.socket.write(Buffer.alloc(900_000, 32));
	while (!state.closed && Date.now() < target.until) {
		state.socket.write(" ");
		await pause(250);
	}
	state.socket.destroy();
	return /HTTP\/1\.1 (\d{3})/.exec(state.text)?.[1] ?? (state.closed ? "closed" : "held");
}

const pick = (/** @type {Random} */ random, /** @type {readonly any[]} */ items) =>
	items[random.integer(items.length)];

const texts =
	"=1+1,💥,../../etc/passwd,+1000000000y,-5y,age:-1,2010-02-30,NaN,__proto__,constructor,<script>";
const strange = [
	...[null, true, -1, 0, 1e308, -1e308, 2 ** 53, "", " ", "\u0000", [], {}, [[]]],
	...texts.split(","),
	"x".repeat(5000),
	Array(300).fill("+1y"),
	{ events: [] },
];

/** A valid request with some of its values replaced by strange ones. */
function fuzzedBody(/** @type {Random} */ random) {
	const document = structuredClone(
		pick(random, [small, bodies.embed, bodies.attribute, bodies.large]),
	);
	for (let left = random.integer(3); left >= 0; left--) {
		let holder = /** @type {any} */ (document);
		for (;;) {
			const keys = Object.keys(holder);
			const key = keys.length === 0 ? "x" : pick(random, keys);
			if (holder[key] !== null && typeof holder[key] === "object" && random.uniform() < 0.7)
				holder = holder[key];
			else {
				holder[random.uniform() < 0.1 ? pick(random, ["__proto__x", "", "at", "top"]) : key] =
					structuredClone(pick(random, strange));
				break;
			}
		}
	}
	return JSON.stringify(document);
}

const strangePaths = [
	...["forecast", "risk", "embed", "sessions", "model"].map((route) => `/api/v2/${route}`),
	..."/sign-in / /api/v2/sessions/x/events /..%2f..%2fetc/passwd /%00 // /api/v2/../..".split(" "),
];
const strangeHeaders = [
	...Array(5).fill({}),
	{ Authorization: "Bearer wrong" },
	{ Host: "evil.example" },
	{ "Content-Type": "text/plain" },
	{ "Content-Length": "5" },
	{ "Transfer-Encoding": "chunked" },
	{ "X-Long": "x".repeat(20_000) },
	{ Origin: "https://evil.example" },
	{ Expect: "100-continue" },
];

/** A malformed request. */
function fuzzedRequest(/** @type {Target} */ target) {
	const { random } = target;
	const path = pick(random, strangePaths);
	const method = pick(random, "POST POST POST GET PUT DELETE OPTIONS TRACE FOO".split(" "));
	const headers = pick(random, strangeHeaders);
	const body = pick(random, [
		fuzzedBody(random),
		fuzzedBody(random),
		fuzzedBody(random),
		...["[".repeat(100_000), '{"patient":', "\uFEFF{}", "x".repeat(2 * 1024 ** 2)],
	]);
	const bytes = rawRequest(target, path, body, headers, method);
	if (random.uniform() < 0.9) return bytes;
	const at = random.integer(Math.min(bytes.length, 200));
	bytes[at] = random.integer(256);
	return bytes;
}

/** As many events, with random codes and days between them. */
function randomPatient(/** @type {Random} */ random, /** @type {number} */ events) {
	const days = 1 + random.integer(6);
	return {
		...small.patient,
		events: Array.from({ length: events }, (_, i) => ({
			code: pick(random, ["401", "250", "272", "428"]),
			date: new Date((i * days - 7300) * 86_400_000).toISOString().slice(0, 10),
		})),
	};
}

/** Any number up to the limit: as often a small as a large one, and every fourth time the limit itself. */
const upTo = (/** @type {Random} */ random, /** @type {number} */ most) =>
	random.uniform() < 0.25 ? most : Math.floor((most + 1) ** random.uniform());

/** A random request within the limits of the service: its path and its body. */
function randomRequest(/** @type {Random} */ random) {
	const at = (/** @type {number} */ most) =>
		Array.from({ length: upTo(random, most) }, (_, i) => `+${i + 1}m`);
	const codes = Array(upTo(random, 16)).fill("428");
	const patient = randomPatient(random, upTo(random, 5000));
	const patients = () => {
		const count = upTo(random, 100);
		return Array.from({ length: count }, () =>
			randomPatient(random, upTo(random, Math.floor(5000 / count))),
		);
	};
	/** Times from the first to the last event. */
	const grid = () => {
		const { events } = patient;
		const days = Date.parse(events.at(-1)?.date ?? "") - Date.parse(events[0]?.date ?? "");
		const times = upTo(random, Math.min(1000, 8192 / codes.length - 2));
		return `${Math.max(1, Math.ceil(days / 86_400_000 / times))}d`;
	};
	return pick(random, [
		() => ["forecast", { patient, at: at(256), top: 16 }],
		() => ["risk", { patient, codes, step: grid() }],
		() => ["risk", { patient: randomPatient(random, upTo(random, 128)), codes, attribute: "+0d" }],
		() => ["embed", { patient }],
		() => ["forecast/batch", { patients: patients(), at: at(4), top: 10 }],
		() => ["risk/batch", { patients: patients(), codes }],
		() => ["sessions", { patient }],
	])();
}

/** @type {Record<string, (target: Target) => Promise<Counts>>} */
export const attacks = {
	fuzz: (target) => keeping(target, 4, () => exchange(target, fuzzedRequest(target))),
	"never read": (target) =>
		keeping(target, 300, () => {
			const one = rawRequest(target, "/api/v2/forecast", JSON.stringify(bodies.large));
			return exchange(target, Buffer.concat(Array(4).fill(one)), { read: false });
		}),
	pipelining: (target) =>
		keeping(target, 20, () => {
			const one = rawRequest(target, "/api/v2/forecast", JSON.stringify(bodies.large));
			return exchange(target, Buffer.concat(Array(60).fill(one)), { read: false });
		}),
	"slow sign-in": (target) =>
		keeping(target, 64, () =>
			slowly(target, "/sign-in", {
				Authorization: "",
				"Content-Type": "application/x-www-form-urlencoded",
			}),
		),
	"slow bodies": (target) => keeping(target, 64, () => slowly(target, "/api/v2/forecast", {})),
	"wrong tokens": (target) =>
		keeping(target, 16, () =>
			post(target, "/api/v2/forecast", small, { Authorization: "Bearer no" }),
		),
	"connection flood": (target) =>
		keeping(target, 1500, async () => {
			const state = open(target);
			while (!state.closed && Date.now() < target.until) await pause(200);
			state.socket.destroy();
			return state.closed ? "closed" : "held";
		}),
	embedding: (target) => keeping(target, 8, () => post(target, "/api/v2/embed", bodies.embed)),
	attribution: (target) =>
		keeping(target, 40, () => post(target, "/api/v2/risk", bodies.attribute)),
	"large answers": (target) =>
		keeping(target, 8, () => post(target, "/api/v2/forecast", bodies.large)),
	"large risks": (target) => keeping(target, 8, () => post(target, "/api/v2/risk", bodies.risks)),
	"long histories": (target) =>
		keeping(target, 8, () => post(target, "/api/v2/forecast", bodies.long)),
	sessions: (target) => keeping(target, 8, () => post(target, "/api/v2/sessions", small)),
	"random requests": (target) =>
		keeping(target, 6, () => {
			const [path, body] = randomRequest(target.random);
			return post(target, `/api/v2/${path}`, body);
		}),
};

/** Clients that send the same requests as the well-behaved one, for comparison. */
export const fairLoad = (/** @type {Target} */ target) =>
	keeping(target, 8, () => post(target, "/api/v2/forecast", small));
