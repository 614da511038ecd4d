import { openExport, type RunningExport } from "../../../src/predict/browser/open-export.js";

/** Opens the server's model in a worker of this page. */
export const openModel = (): Promise<RunningExport> =>
	openExport(new URL("model/", document.baseURI), {
		library: new URL("trajgpt/", document.baseURI),
	});

let started: Promise<RunningExport> | undefined;

/** Starts to load the model before the page's script is read. */
export function startModel(): void {
	started = openModel();
	started.catch(() => {}); // reported where it is used
}

/** The model that was started, on the first call; a new one after that. */
export function startedOrNew(): Promise<RunningExport> {
	const first = started ?? openModel();
	started = undefined;
	return first;
}
