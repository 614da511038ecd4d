import { examplesFor } from "../api/examples.js";
import { openApi } from "../api/openapi.js";
import { populationOf, type ServedModel } from "../api/served-model.js";
import { document, fileOf, type ServedFile } from "../http/static-files.js";
import { apiPage } from "./api-page.js";
import { apiScript } from "./api-script.js";
import { apiStyle } from "./api-style.js";

/** The description of the API: the page at /api, its files, and OpenAPI. */
export function apiDescription(
	served: ServedModel,
	options: {
		readonly version: string;
		readonly needsToken: boolean;
		readonly hasExplorer: boolean;
	},
) {
	const examples = examplesFor(served);
	const described = openApi(options.version, examples);
	const files: ReadonlyMap<string, ServedFile> = new Map([
		["/api/v2/openapi.json", document(JSON.stringify(described))],
		["/api/page.css", fileOf("text/css; charset=utf-8", apiStyle)],
		["/api/page.js", fileOf("text/javascript; charset=utf-8", apiScript)],
	]);
	return {
		files,
		/** `api` is the address of the API, as the client reached it. */
		page: (api: string): string =>
			apiPage(described, {
				...{ api, examples, population: populationOf(served).population },
				...options,
			}),
	};
}
