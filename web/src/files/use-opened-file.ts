import { useCallback, useEffect, useRef, useState } from "react";
import type { Loaded } from "../data/use-loaded.js";
import type { FileRules } from "./file-rules.js";
import { openFile } from "./open-file.js";
import type { FilePatients } from "./to-patients.js";

/** The state of the file that was opened last. */
export type OpenedFile =
	| { readonly state: "none" }
	| { readonly state: "waiting"; readonly file: string }
	| { readonly state: "read"; readonly file: string; readonly found: FilePatients }
	| { readonly state: "failed"; readonly file: string; readonly message: string };

/** Reads files once the rules are known; earlier files wait. A later file replaces an earlier one, and reading can be cancelled. */
export function useOpenedFile(
	rules: Loaded<FileRules>,
	onPatients: (found: FilePatients) => void,
): readonly [opened: OpenedFile, open: (file: File) => void, leave: () => void] {
	const [opened, setOpened] = useState<OpenedFile>({ state: "none" });
	const [given, setGiven] = useState<File | null>(null);
	const tell = useRef(onPatients);
	tell.current = onPatients;
	useEffect(() => {
		if (!given || rules.state === "loading") return;
		let gone = false;
		const reading =
			rules.state === "error"
				? Promise.reject(new Error(`how it is to be read is not known: ${rules.message}`))
				: openFile(given, rules.value);
		reading.then(
			(found) => {
				if (gone) return;
				setOpened({ state: "read", file: given.name, found });
				tell.current(found);
			},
			(error: Error) => {
				if (!gone) setOpened({ state: "failed", file: given.name, message: error.message });
			},
		);
		return () => {
			gone = true;
		};
	}, [given, rules]);
	const open = useCallback((file: File) => {
		setOpened({ state: "waiting", file: file.name });
		setGiven(file);
	}, []);
	const leave = useCallback(() => {
		setOpened((now) => (now.state === "waiting" ? { state: "none" } : now));
		setGiven(null);
	}, []);
	return [opened, open, leave];
}
