import { useCallback, useEffect, useState } from "react";
import { type BrowserModel, openModel } from "../../../src/browser/index.js";

export type ModelState =
	| { readonly state: "loading" }
	| { readonly state: "ready"; readonly model: BrowserModel }
	| { readonly state: "error"; readonly message: string };

/** The model of the server's run, opened in a worker of this page. */
export function useModel(): readonly [ModelState, retry: () => void] {
	const [tries, setTries] = useState(0);
	const [found, setFound] = useState<ModelState>({ state: "loading" });
	useEffect(() => {
		let gone = false;
		let model: BrowserModel | undefined;
		setFound({ state: "loading" });
		openModel(new URL("model/", document.baseURI), {
			library: new URL("trajgpt/", document.baseURI),
		}).then(
			(opened) => {
				if (gone) return opened.close();
				model = opened;
				setFound({ state: "ready", model });
			},
			(error: Error) => !gone && setFound({ state: "error", message: error.message }),
		);
		return () => {
			gone = true;
			model?.close();
		};
	}, [tries]);
	return [found, useCallback(() => setTries((count) => count + 1), [])];
}
