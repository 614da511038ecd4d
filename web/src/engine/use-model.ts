import { useCallback, useState } from "react";
import { openExport, type RunningExport } from "../../../src/browser/open-export.js";
import { type Loaded, useLoaded } from "../data/use-loaded.js";

const open = () =>
	openExport(new URL("model/", document.baseURI), {
		library: new URL("trajgpt/", document.baseURI),
	});
const close = (model: RunningExport) => void model.close();

let started: Promise<RunningExport> | undefined;

/** Starts to load the model before the page is drawn. */
export function startModel(): void {
	started = open();
	started.catch(() => {}); // reported where it is used
}

/** What was started, for the first use, or the model anew. */
function startedOrNew(): Promise<RunningExport> {
	const first = started ?? open();
	started = undefined;
	return first;
}

/** Loads the server's model into a worker of this page. */
export function useModel(): readonly [Loaded<RunningExport>, retry: () => void] {
	const [load, setLoad] = useState(() => startedOrNew);
	return [useLoaded(load, close), useCallback(() => setLoad(() => () => open()), [])];
}
