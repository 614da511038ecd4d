import { useCallback, useEffect, useState } from "react";
import { openExport, type RunningExport } from "../../../src/browser/open-export.js";

export type ModelState =
	| { readonly state: "loading" }
	| { readonly state: "ready"; readonly model: RunningExport }
	| { readonly state: "error"; readonly message: string };

/** Loads the server's model into a worker of this page. */
export function useModel(): readonly [ModelState, retry: () => void] {
	const [tries, setTries] = useState(0);
	const [found, setFound] = useState<ModelState>({ state: "loading" });
	useEffect(() => {
		let gone = false;
		let model: RunningExport | undefined;
		setFound({ state: "loading" });
		openExport(new URL("model/", document.baseURI), {
			library: new URL("trajgpt/", document.baseURI),
		}).then(
			(opened) => {
				if (gone) {
					void opened.close();
					return;
				}
				model = opened;
				setFound({ state: "ready", model });
			},
			(error: Error) => !gone && setFound({ state: "error", message: error.message }),
		);
		return () => {
			gone = true;
			void model?.close();
		};
	}, [tries]);
	return [found, useCallback(() => setTries((count) => count + 1), [])];
}
