import type { Examples } from "../api/examples.js";
import type { OpenApi, Operation, Schema } from "../api/openapi.js";
import type { routes } from "../api/routes.js";
import { compactJson } from "./compact-json.js";
import { type CurlOptions, curlCommand } from "./curl.js";
import { escaped, withCode } from "./html.js";
import { fieldsOf, fieldTable, schemaLink, typeHtml } from "./schema-html.js";

export interface PageOptions extends CurlOptions {
	/** Said on top, if the model has learned from simulated people. */
	readonly population?: string | undefined;
	/** Whether the explorer is served beside the API. */
	readonly hasExplorer: boolean;
	readonly examples: Examples;
}

interface Entry {
	readonly method: string;
	readonly path: string;
	readonly operation: Operation;
}

/** A page on the API, made from its OpenAPI document. */
export function apiPage(api: OpenApi, options: PageOptions): string {
	const entries = Object.entries(api.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(
			([method, operation]): Entry => ({ method: method.toUpperCase(), path, operation }),
		),
	);
	const { schemas } = api.components;
	const links = entries.map(
		({ method, path, operation: { operationId, summary } }) =>
			`<li><a href="#${operationId}"><b>${method}</b> ${escaped(path)}</a> <span>${escaped(summary)}</span></li>`,
	);
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>trajgpt API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/api/page.css">
<script src="/api/page.js" defer></script>
</head>
<body data-api="${escaped(options.api)}">
<header>
<h1>trajgpt API</h1>
<p class="links">${options.hasExplorer ? '<a href="/">Explorer</a> ' : ""}<a href="/api/v2/openapi.json">OpenAPI document</a> <span>version ${escaped(api.info.version)}</span></p>
${options.population === undefined ? "" : `<p class="population">Model of a ${escaped(options.population)}.</p>`}
<p>${withCode(api.info.description)}</p>
<p>All paths are below <code>${escaped(options.api)}</code>.${options.needsToken ? " Commands read the token from the file <code>token.txt</code>; requests from this page use your sign-in." : ""} Commands are for a POSIX shell.</p>
<nav aria-label="Operations"><ul>${links.join("\n")}</ul></nav>
</header>
<main>
${entries.map((entry) => section(entry, schemas, options)).join("\n")}
<h2 id="schemas">Schemas</h2>
${Object.entries(schemas).map(schemaSection).join("\n")}
</main>
</body>
</html>
`;
}

function section(
	entry: Entry,
	schemas: Readonly<Record<string, Schema>>,
	options: PageOptions,
): string {
	const { method, path, operation } = entry;
	const { operationId, summary, parameters = [], requestBody, responses } = operation;
	const body = requestBody && schemas[nameIn(requestBody.content["application/json"].schema.$ref)];
	const statuses = Object.entries(responses);
	const [success, ...refusals] = statuses;
	const answer = success?.[1].content?.["application/json"].schema.$ref;
	return `<section aria-labelledby="${operationId}">
<h2 id="${operationId}"><b class="${method.toLowerCase()}">${method}</b> <code>${escaped(path)}</code></h2>
<p>${withCode(sentence(summary))} Returns ${answer === undefined ? "nothing" : schemaLink(answer)}.</p>
${fieldTable(
	parameters.map(({ name, schema, required, in: place }) => ({
		...{ name, schema, isRequired: required === true, note: `in the ${place}` },
	})),
	"Parameters",
	`Parameters of ${method} ${path}`,
)}
${body ? fieldTable(fieldsOf(body, true), "Fields of the request", `Fields of the request to ${method} ${path}`) : ""}
${example(entry, options)}
<details><summary>Errors</summary><ul>${refusals.map(([status, { description }]) => `<li><b>${status}</b> ${escaped(description)}</li>`).join("")}</ul></details>
</section>`;
}

/** An example to run and its command, or why there is none. */
function example({ method, path, operation }: Entry, options: PageOptions): string {
	const { operationId } = operation;
	const given = options.examples[operationId as keyof typeof routes];
	if (!given) return `<p class="none">${refusedWords[operationId] ?? "No example."}</p>`;
	const body = given.body && compactJson(given.body);
	const query = Object.entries(given.query ?? {})
		.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
		.join("&");
	const target = query === "" ? path : `${path}?${query}`;
	const session = JSON.stringify(options.examples.startSession?.body ?? {});
	const command = (text: string | undefined) =>
		curlCommand(
			{ method, path: target, ...(text !== undefined && { body: text }) },
			options,
			session,
		);
	const rows = Math.min(24, (body ?? "").split("\n").length);
	return `<div class="example" data-method="${method}" data-path="${escaped(target)}">
${path.includes("{id}") ? `<label class="id">Session id <input autocomplete="off" placeholder="run POST /sessions first"></label>` : ""}
${body === undefined ? `<p class="request"><code>${method} ${escaped(target)}</code></p>` : `<label>Request <textarea spellcheck="false" rows="${rows}">${escaped(body)}</textarea></label>`}
<p class="actions"><button type="button" class="run">Run<span class="hidden"> ${method} ${escaped(path)}</span></button> <span class="status" role="status"></span></p>
<pre class="answer" tabindex="0" aria-label="Response of ${method} ${escaped(path)}" hidden></pre>
<details><summary>As a command</summary>
<pre class="curl" tabindex="0" aria-label="Command for ${method} ${escaped(path)}">${escaped(command(body))}</pre></details>
</div>`;
}

const refusedWords: Readonly<Record<string, string>> = {
	risk: "The served model has no hazards: it answers with status 422.",
	riskBatch: "The served model has no hazards: it answers with status 422.",
	score: "The served model was not fine-tuned: it answers with status 422.",
};

function schemaSection([name, schema]: [string, Schema]): string {
	const fields = fieldsOf(schema, false);
	return `<section class="schema" aria-labelledby="${escaped(name)}"><h3 id="${escaped(name)}">${escaped(name)}</h3>
${fields.length > 0 ? fieldTable(fields, `Fields of ${name}`) : `<p>${typeHtml(schema)}: ${withCode(schema.description ?? "")}</p>`}
</section>`;
}

const nameIn = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);
const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
