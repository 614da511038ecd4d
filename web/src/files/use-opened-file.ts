import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { DateOrder } from "../../../src/data/records/dates.js";
import type { Loaded } from "../data/use-loaded.js";
import { startWorker } from "../page-worker.js";
import { type ColumnChoice, type ColumnChoices, choiceKey } from "./columns.js";
import { type PatientList, patientList } from "./patient-list.js";
import type { ReadReply, ReadRequest, UsedFiles } from "./reader.js";
import type { FileRules } from "./records.js";

/** The file that was opened last, and what came of it; null if there is none. */
export type OpenedFile = (ReadReply & { readonly file: string }) | null;

interface FileRequest extends Pick<ReadRequest, "files" | "order"> {
	/** Shown while it is read. */
	readonly name: string;
}

export type FileActions = ReturnType<typeof useOpenedFile>[1];

/** Reads files in a worker once the rules are known; earlier files wait. A later file replaces an earlier one. */
export function useOpenedFile(
	rules: Loaded<FileRules>,
	onPatients: (patients: PatientList) => void,
) {
	const [opened, setOpened] = useState<OpenedFile>(null);
	const [request, setRequest] = useState<FileRequest | null>(null);
	/** Outlives `request`, so that a file can be read again after another patient was chosen. */
	const last = useRef<FileRequest | null>(null);
	const used = useRef<UsedFiles>({});
	const columns = useRef<ColumnChoices>(new Map());
	const tell = useRef(onPatients);
	tell.current = onPatients;
	useEffect(() => {
		if (!request || rules.state === "loading") return;
		const fail = (message: string) =>
			setOpened({
				state: "failed",
				file: request.name,
				used: used.current,
				message,
				table: null,
			});
		if (rules.state === "error") return fail(`how it is to be read is not known: ${rules.message}`);
		const worker = startWorker("files");
		worker.onerror = () => fail("the reader could not be started; reload the page and try again");
		worker.onmessage = ({ data: reply }: MessageEvent<ReadReply>) => {
			if (reply.state === "waiting" || reply.state === "failed")
				setOpened({ ...reply, file: request.name });
			else {
				used.current = reply.used;
				const file = (reply.used.records ?? reply.used.map)?.name ?? request.name;
				setOpened({ ...reply, file });
				if (reply.state === "read") tell.current(patientList(file, reply.content));
			}
			if (reply.state !== "waiting") worker.terminate();
		};
		const { vocabulary, rules: readingRules } = rules.value;
		worker.postMessage({
			files: request.files,
			order: request.order,
			before: used.current,
			columns: columns.current,
			tokens: vocabulary.tokens,
			rules: readingRules,
		} satisfies ReadRequest);
		return () => worker.terminate();
	}, [request, rules]);
	const start = useCallback((next: FileRequest) => {
		setOpened({ state: "waiting", file: next.name, share: 0 });
		last.current = next;
		setRequest(next);
	}, []);
	const actions = useMemo(
		() => ({
			open: (files: readonly File[]) =>
				start({ files, name: files.map(({ name }) => name).join(" and ") }),
			/** Reads the file again, with dates in this order. */
			readDates: (order: DateOrder) =>
				start({ files: [], name: used.current.records?.name ?? "the file", order }),
			/** Reads the file again, from these columns; tables with the same first line are read so from now on. */
			readColumns(first: readonly string[], choice: ColumnChoice) {
				columns.current = new Map([...columns.current, [choiceKey(first), choice]]);
				start({ ...(last.current ?? { files: [], name: "the file" }) });
			},
			leave() {
				setOpened((now) => (now?.state === "waiting" ? null : now));
				setRequest(null);
			},
		}),
		[start],
	);
	return [opened, actions] as const;
}

/** Accepts files dropped anywhere, so that one dropped outside the target does not replace the page. */
export function useDroppedFile(onFiles: (files: readonly File[]) => void): void {
	useEffect(() => {
		const stay = (event: DragEvent) => {
			if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
		};
		const take = (event: DragEvent) => {
			stay(event);
			const files = [...(event.dataTransfer?.files ?? [])];
			if (files.length > 0) onFiles(files);
		};
		addEventListener("dragover", stay);
		addEventListener("drop", take);
		return () => {
			removeEventListener("dragover", stay);
			removeEventListener("drop", take);
		};
	}, [onFiles]);
}

const key = "trajgpt-file";

/** Where the name of the file is kept until the tab is closed; never anything of its content. */
type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Some browsers refuse storage; then a reload is not noticed. */
const attempt = <T>(work: () => T): T | null => {
	try {
		return work();
	} catch {
		return null;
	}
};

/** The name of the file that was open when the page was reloaded. */
export const lostFile = (store: () => Store = () => sessionStorage): string | null =>
	attempt(() => store().getItem(key));

/** Notes the name of the open file, or that there is none. */
export const noteFile = (name: string | null, store: () => Store = () => sessionStorage): void => {
	attempt(() => (name === null ? store().removeItem(key) : store().setItem(key, name)));
};
