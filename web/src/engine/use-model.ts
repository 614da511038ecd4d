import { useCallback, useState } from "react";
import { openExport, type RunningExport } from "../../../src/browser/open-export.js";
import { type Loaded, useLoaded } from "../data/use-loaded.js";

const open = () =>
	openExport(new URL("model/", document.baseURI), {
		library: new URL("trajgpt/", document.baseURI),
	});
const close = (model: RunningExport) => void model.close();

/** Loads the server's model into a worker of this page. */
export function useModel(): readonly [Loaded<RunningExport>, retry: () => void] {
	const [load, setLoad] = useState(() => () => open());
	return [useLoaded(load, close), useCallback(() => setLoad(() => () => open()), [])];
}
