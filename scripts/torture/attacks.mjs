// Hostile and greedy HTTP clients. Each runs until its time is up, then disconnects.
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const codes = ["401", "250", "272", "428"];
const dateOf = (day) => new Date(day * 86_400_000).toISOString().slice(0, 10);
/** A patient with as many events. */
const patientWith = (events, eventOf) => ({
	sex: "female",
	birth: "1950-06-01",
	events: Array.from({ length: events }, (_, i) => ({ code: codes[i % 4], ...eventOf(i) })),
});
const yearly = (i) => ({ date: `20${String(i % 20).padStart(2, "0")}-03-01` });
const months = (count) => Array.from({ length: count }, (_, i) => `+${i + 1}m`);

export const small = { patient: patientWith(8, yearly) };
const patient = patientWith(60, yearly);
const bodies = {
	/** A small request with the largest allowed response: times × top is 4,096. */
	large: { ...small, at: months(256), top: 16 },
	/** The longest history, and the largest response on risks: codes × times is 8,192. */
	long: { patient: patientWith(5000, (i) => ({ date: dateOf(i) })) },
	risks: {
		...small,
		codes: Array(16).fill("428"),
		from: "2010-01-01",
		to: "2019-10-01",
		step: "1w",
	},
	embed: { patient },
	attribute: { patient, codes: ["428"], attribute: "+1y" },
};

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

/** Keeps `count` connections open, each renewed when it ends, until the time is up; counts how they end. */
const keeping = (count, connection) => async (target) => {
	const counts = {};
	const renew = async () => {
		while (Date.now() < target.until) {
			const result = await connection(target);
			counts[result] = (counts[result] ?? 0) + 1;
		}
	};
	await Promise.all(Array.from({ length: count }, renew));
	return counts;
};

/**
 * Sends all bytes at once, and with `drip` one more now and then. Waits until the connection ends, the time is up or a
 * response has arrived; gives its status, or whether the service closed the connection.
 */
async function exchange({ port, until }, bytes, { read = true, drip = "", pauseMs = 20 } = {}) {
	const socket = connect(port, "127.0.0.1");
	let [text, isClosed] = ["", false];
	socket.on("error", () => {});
	socket.on("close", () => {
		isClosed = true;
	});
	if (read)
		socket.on("data", (chunk) => {
			text = (text + chunk.toString("latin1")).slice(0, 4096);
		});
	else socket.pause();
	socket.write(bytes);
	const status = () => /HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
	while (!isClosed && Date.now() < until && (drip !== "" || !status())) {
		if (drip !== "") socket.write(drip);
		await pause(pauseMs);
	}
	socket.destroy();
	return status() ?? (isClosed ? "closed" : "held");
}

const requestOf = (target, route, body, headers) =>
	rawRequest(target, `/api/v2/${route}`, JSON.stringify(body), headers);

const posting = (route, body, headers) => (target) =>
	exchange(target, requestOf(target, route, body, headers));

/** Connections that send several requests, and never read a response. */
const unread = (requests) => (target) => {
	const one = requestOf(target, "forecast", bodies.large);
	return exchange(target, Buffer.concat(Array(requests).fill(one)), { read: false });
};

/** Connections whose body arrives a byte at a time, after most of it at once, so that the service buffers much. */
const slowly = (path, headers) => (target) => {
	const length = { "Content-Length": String(1024 ** 2 - 1), ...headers };
	const begin = [rawRequest(target, path, "{", length), Buffer.alloc(900_000, 32)];
	return exchange(target, Buffer.concat(begin), { drip: " ", pauseMs: 250 });
};

const pick = (random, items) => items[random.integer(items.length)];

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
function fuzzedBody(random) {
	const document = structuredClone(
		pick(random, [small, bodies.embed, bodies.attribute, bodies.large]),
	);
	for (let left = random.integer(3); left >= 0; left--) {
		let holder = document;
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

function fuzzedRequest(target) {
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
function randomPatient(random, events) {
	const days = 1 + random.integer(6);
	return patientWith(events, (i) => ({ code: pick(random, codes), date: dateOf(i * days - 7300) }));
}

/** Any number up to the limit: as often a small as a large one, and every fourth time the limit itself. */
const upTo = (random, most) =>
	random.uniform() < 0.25 ? most : Math.floor((most + 1) ** random.uniform());

/** A random request within the limits of the service: its route and its body. */
function randomRequest(random) {
	const at = (most) => months(upTo(random, most));
	const codes = Array(upTo(random, 16)).fill("428");
	const patient = randomPatient(random, upTo(random, 5000));
	const patients = () => {
		const count = upTo(random, 100);
		const most = Math.floor(5000 / count);
		return Array.from({ length: count }, () => randomPatient(random, upTo(random, most)));
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

const form = { Authorization: "", "Content-Type": "application/x-www-form-urlencoded" };

export const attacks = {
	fuzz: keeping(4, (target) => exchange(target, fuzzedRequest(target))),
	"never read": keeping(300, unread(4)),
	pipelining: keeping(20, unread(60)),
	"slow sign-in": keeping(64, slowly("/sign-in", form)),
	"slow bodies": keeping(64, slowly("/api/v2/forecast", {})),
	"wrong tokens": keeping(16, posting("forecast", small, { Authorization: "Bearer no" })),
	"connection flood": keeping(1500, (target) => exchange(target, "", { pauseMs: 200 })),
	embedding: keeping(8, posting("embed", bodies.embed)),
	attribution: keeping(40, posting("risk", bodies.attribute)),
	"large answers": keeping(8, posting("forecast", bodies.large)),
	"large risks": keeping(8, posting("risk", bodies.risks)),
	"long histories": keeping(8, posting("forecast", bodies.long)),
	sessions: keeping(8, posting("sessions", small)),
	"random requests": keeping(6, (target) => posting(...randomRequest(target.random))(target)),
};

/** Clients that send the same requests as the well-behaved one, for comparison. */
export const fairLoad = keeping(8, posting("forecast", small));
