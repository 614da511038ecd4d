import { html, raw } from "hono/html";
import type { Example, Examples, OpenApi, Operation, Schema } from "./api/openapi.js";
import type { routes } from "./api/routes.js";
import { fileOf } from "./static-files.js";

type Html = ReturnType<typeof html>;

interface PageOptions {
	/** The address of the API as the client reached it, such as `http://127.0.0.1:7428/api/v2`. */
	readonly address: string;
	readonly needsToken: boolean;
	/** Said on top, if the model has learned from simulated people. */
	readonly population?: string | undefined;
	readonly hasExplorer: boolean;
	readonly examples: Examples;
}

/** A page on the API, made from its OpenAPI document. Nothing on it comes from another origin. */
export function apiPage(api: OpenApi, options: PageOptions): Html {
	const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({
			method: method.toUpperCase(),
			path,
			operation,
		})),
	);
	const { schemas } = api.components;
	return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>trajgpt API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/api/page.css">
<script src="/api/page.js" defer></script>
</head>
<body>
<header>
<h1>trajgpt API</h1>
<p>${options.hasExplorer ? html`<a href="/">Explorer</a> ` : ""}<a href="/api/v2/openapi.json">OpenAPI document</a> version ${api.info.version}</p>
${options.population === undefined ? "" : html`<p><strong>Model of a ${options.population}.</strong></p>`}
<p>${api.info.description}</p>
<p>All paths are below <code>${options.address}</code>.${options.needsToken ? html` Commands read the token from the file <code>token.txt</code>; requests from this page use your sign-in.` : ""} Commands are for a POSIX shell.</p>
<nav aria-label="Operations"><ul>${operations.map(
		({ method, path, operation: { operationId, summary } }) =>
			html`<li><a href="#${operationId}">${method} ${path}</a> ${summary}</li>`,
	)}</ul></nav>
</header>
<main>
${operations.map(({ method, path, operation }) => operationSection(method, path, operation, schemas, options))}
<h2 id="schemas">Schemas</h2>
${Object.entries(schemas).map(
	([name, schema]) =>
		html`<section class="schema" aria-labelledby="${name}"><h3 id="${name}">${name}</h3>
${schema.properties ? fieldTable(fieldsOf(schema), `Fields of ${name}`) : html`<p>${typeText(schema)}: ${withCode(schema.description ?? "")}</p>`}</section>`,
)}
</main>
</body>
</html>
`;
}

function operationSection(
	method: string,
	path: string,
	operation: Operation,
	schemas: Readonly<Record<string, Schema>>,
	options: PageOptions,
): Html {
	const { operationId, summary, parameters = [], requestBody, responses } = operation;
	const [success, ...refusals] = Object.entries(responses);
	const answer = success?.[1].content?.["application/json"].schema;
	const body = requestBody && schemas[nameOf(requestBody.content["application/json"].schema)];
	const example = options.examples[operationId as keyof typeof routes];
	return html`<section aria-labelledby="${operationId}">
<h2 id="${operationId}">${method} <code>${path}</code></h2>
<p>${summary[0]?.toUpperCase()}${withCode(summary.slice(1))}. Returns ${answer ? typeText(answer) : "nothing"}.</p>
${fieldTable(
	parameters.map(({ name, schema, in: where }) => ({
		name,
		schema: { ...schema, description: `in the ${where}; ${schema.description ?? ""}` },
		isRequired: where === "path",
	})),
	`Parameters of ${method} ${path}`,
)}
${body ? fieldTable(fieldsOf(body), `Fields of the request to ${method} ${path}`) : ""}
${example ? exampleSection(method, path, example, options) : html`<p>${noExample[operationId] ?? "No example."}</p>`}
<details><summary>Errors</summary><ul>${refusals.map(([status, { description }]) => html`<li><b>${status}</b> ${description}</li>`)}</ul></details>
</section>`;
}

const noExample: Readonly<Record<string, string>> = {
	risk: "The served model has no hazards: it answers with status 422.",
	riskBatch: "The served model has no hazards: it answers with status 422.",
	score: "The served model was not fine-tuned: it answers with status 422.",
};

function exampleSection(
	method: string,
	path: string,
	{ body, query = {} }: Example,
	options: PageOptions,
): Html {
	const search = Object.entries(query).map(
		([name, value]) => `${name}=${encodeURIComponent(value)}`,
	);
	const target = search.length === 0 ? path : `${path}?${search.join("&")}`;
	const text = body && JSON.stringify(body, null, 2);
	return html`<div class="example" data-method="${method}" data-path="${target}">
${path.includes("{id}") ? html`<label class="id">Session id <input autocomplete="off" placeholder="run POST /sessions first"></label>` : ""}
${text === undefined ? html`<p><code>${method} ${target}</code></p>` : html`<label>Request <textarea spellcheck="false" rows="${Math.min(24, text.split("\n").length)}">${text}</textarea></label>`}
<p><button type="button" aria-label="Run ${method} ${path}">Run</button> <span role="status"></span></p>
<pre class="answer" tabindex="0" aria-label="Response of ${method} ${path}" hidden></pre>
<details><summary>As a command</summary>
<pre class="curl" tabindex="0" aria-label="Command for ${method} ${path}">${curlCommand(method, target, text, options)}</pre></details>
</div>`;
}

/** A command that sends the request; for a session it starts one first. */
function curlCommand(
	method: string,
	path: string,
	body: string | undefined,
	{ address, needsToken, examples }: PageOptions,
): string {
	const command = (method: string, path: string, body: string | undefined) =>
		[
			// As in docs/security.md: a token on the command line could be seen by others.
			needsToken
				? `printf 'Authorization: Bearer %s' "$(cat token.txt)" | curl -s -H @-`
				: "curl -s",
			...(method === "DELETE" ? ["-X DELETE"] : []),
			`"${address}${path.replace("{id}", "$ID")}"`,
			...(body === undefined
				? []
				: [`-H "Content-Type: application/json" -d '${body.replaceAll("'", "'\\''")}'`]),
		].join(" ");
	const request = command(method, path, body);
	if (!path.includes("{id}")) return request;
	const session = JSON.stringify(examples.startSession?.body ?? {});
	const start = command("POST", "/sessions", session);
	return `ID=$(${start} | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')\n${request}`;
}

const nameOf = ({ $ref = "" }: Schema) => $ref.slice($ref.lastIndexOf("/") + 1);

/** Text with `code` between backticks. */
const withCode = (text: string): (string | Html)[] =>
	text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part));

/** The type of a value in words, with links to named schemas. */
function typeText(schema: Schema): Html {
	const { type = "any", items } = schema;
	if (schema.$ref !== undefined) return html`<a href="#${nameOf(schema)}">${nameOf(schema)}</a>`;
	if (schema.anyOf) {
		const types = new Set(schema.anyOf.map((option) => `${typeText(option)}`));
		return html`${raw([...types].join(" or "))}`;
	}
	const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
	if (values) return html`<code>${values.map((value) => JSON.stringify(value)).join(", ")}</code>`;
	return type === "array" && items
		? html`list of ${typeText(items)}`
		: html`${[type].flat().join(" or ")}`;
}

interface Field {
	readonly name: string;
	readonly schema: Schema;
	readonly isRequired: boolean;
}

const fieldsOf = ({ properties = {}, required = [] }: Schema): Field[] =>
	Object.entries(properties).map(([name, schema]) => ({
		name,
		schema,
		isRequired: required.includes(name),
	}));

const fieldTable = (fields: readonly Field[], caption: string) =>
	fields.length === 0
		? ""
		: html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr><th scope="col">field</th><th scope="col">type</th><th scope="col">meaning</th></tr></thead>
<tbody>${fields.map(({ name, schema, isRequired }) => {
				const preset = schema.default;
				return html`<tr><th scope="row"><code>${name}</code></th><td>${typeText(schema)}</td><td>${isRequired ? "required; " : ""}${preset === undefined ? "" : html`default <code>${JSON.stringify(preset)}</code>; `}${withCode(schema.description ?? "")}</td></tr>\n`;
			})}</tbody></table></div>`;

const style = `:root { color-scheme: light dark; --line: light-dark(#c9d1da, #3b4856); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px; max-width: 1100px; font: 15px/1.5 Arial, sans-serif; }
a { color: light-dark(#00629a, #58b6ee); }
h2 { overflow-wrap: anywhere; }
section { margin-top: 16px; padding: 0 16px 16px; border: 1px solid var(--line); border-radius: 8px; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
caption, th, td { padding: 4px 12px 4px 0; text-align: left; vertical-align: top; }
th, td { border-top: 1px solid var(--line); }
code, pre, textarea { font: 13px/1.45 monospace; }
pre { max-height: 420px; overflow: auto; }
textarea, input { display: block; width: 100%; }
:focus-visible { outline: 2px solid; outline-offset: 2px; }
`;

/** Sends the examples to the service that served the page. */
const script = `const longest = 20000;

const pretty = (text) => {
	try {
		const json = JSON.stringify(JSON.parse(text), null, 2);
		return json.length > longest ? json.slice(0, longest) + "\\n… shortened" : json;
	} catch {
		return text;
	}
};

async function run(example) {
	const { method, path } = example.dataset;
	const status = example.querySelector("[role=status]");
	const answer = example.querySelector(".answer");
	const body = example.querySelector("textarea")?.value;
	const id = example.querySelector(".id input")?.value.trim();
	answer.hidden = true;
	if (id === "") {
		status.textContent = "Run POST /sessions first: it gives the id.";
		return;
	}
	status.textContent = "…";
	const started = performance.now();
	try {
		const response = await fetch("/api/v2" + path.replace("{id}", encodeURIComponent(id)), {
			method,
			...(body !== undefined && { body, headers: { "Content-Type": "application/json" } }),
		});
		const text = await response.text();
		const ms = Math.round(performance.now() - started);
		status.textContent = response.status + " " + response.statusText + ", " + ms + " ms";
		answer.textContent = pretty(text);
		answer.hidden = text === "";
		if (method === "POST" && path === "/sessions" && response.ok)
			for (const input of document.querySelectorAll(".id input")) input.value = JSON.parse(text).id;
	} catch {
		status.textContent = "The service does not answer. Is it still running?";
	}
}

for (const example of document.querySelectorAll(".example")) {
	example.querySelector("button").addEventListener("click", () => run(example));
	const area = example.querySelector("textarea");
	const curl = example.querySelector(".curl");
	let before = area?.value;
	const quoted = (text) => "-d '" + text.replaceAll("'", "'\\\\''") + "'";
	area?.addEventListener("input", () => {
		curl.textContent = curl.textContent.replace(quoted(before), () => quoted(area.value));
		before = area.value;
	});
}
`;

export const pageFiles = [
	["/api/page.css", fileOf("text/css; charset=utf-8", style)],
	["/api/page.js", fileOf("text/javascript; charset=utf-8", script)],
] as const;
