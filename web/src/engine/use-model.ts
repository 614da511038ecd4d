import { useCallback, useState } from "react";
import type { RunningExport } from "../../../src/predict/browser/open-export.js";
import { type Loaded, useLoaded } from "../data/use-loaded.js";
import { openModel, startedOrNew } from "./start-model.js";

const close = (model: RunningExport) => void model.close();

/** Loads the server's model into a worker of this page. */
export function useModel(): readonly [Loaded<RunningExport>, retry: () => void] {
	const [load, setLoad] = useState(() => startedOrNew);
	return [useLoaded(load, close), useCallback(() => setLoad(() => openModel), [])];
}
