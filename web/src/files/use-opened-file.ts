import { useCallback, useEffect, useRef, useState } from "react";
import type { DateOrder } from "../../../src/data/records/dates.js";
import type { Loaded } from "../data/use-loaded.js";
import { startWorker } from "../page-worker.js";
import { choiceKey, type TablePreview } from "./column-choice.js";
import type { ColumnChoice } from "./csv-columns.js";
import type { AmbiguousDate } from "./date-reading.js";
import type { GivenFiles } from "./open-file.js";
import { type PatientList, patientList } from "./patient-list.js";
import type { ReadReply, ReadRequest } from "./reader.js";
import type { FileRules } from "./records.js";
import type { FilePatients } from "./to-patients.js";

/** The state of the file that was opened last. */
export type OpenedFile =
	| { readonly state: "none" }
	| { readonly state: "waiting"; readonly file: string; readonly share: number }
	| { readonly state: "asked"; readonly file: string; readonly dates: readonly AmbiguousDate[] }
	| {
			readonly state: "columns";
			readonly file: string;
			readonly problem: string;
			readonly table: TablePreview;
	  }
	| { readonly state: "map"; readonly file: string; readonly icd: number; readonly snomed: number }
	| {
			readonly state: "read";
			readonly file: string;
			readonly summary: FilePatients;
			readonly patients: PatientList;
			/** Null if the file is not a table. */
			readonly table: TablePreview | null;
	  }
	| {
			readonly state: "failed";
			readonly file: string;
			readonly message: string;
			readonly table: TablePreview | null;
	  };

interface FileRequest extends Pick<ReadRequest, "files" | "order"> {
	/** Shown while it is read. */
	readonly name: string;
}

export interface FileActions {
	open(files: readonly File[]): void;
	/** Reads the file again, with dates in this order. */
	readDates(order: DateOrder): void;
	/** Reads the file again, from these columns; tables with the same first line are read so from now on. */
	readColumns(first: readonly string[], choice: ColumnChoice): void;
	/** Stops reading. */
	leave(): void;
}

const namesOf = (files: readonly File[]) => files.map(({ name }) => name).join(" and ");

/** Reads files in a worker once the rules are known; earlier files wait. A later file replaces an earlier one. */
export function useOpenedFile(
	rules: Loaded<FileRules>,
	onPatients: (patients: PatientList) => void,
): readonly [opened: OpenedFile, actions: FileActions] {
	const [opened, setOpened] = useState<OpenedFile>({ state: "none" });
	const [request, setRequest] = useState<FileRequest | null>(null);
	/** Outlives `request`, so that a file can be read again after another patient was chosen. */
	const last = useRef<FileRequest | null>(null);
	const used = useRef<GivenFiles>({});
	const columns = useRef<ReadonlyMap<string, ColumnChoice>>(new Map());
	const tell = useRef(onPatients);
	tell.current = onPatients;
	useEffect(() => {
		if (!request || rules.state === "loading") return;
		const fail = (message: string, table: TablePreview | null = null) =>
			setOpened({ state: "failed", file: request.name, message, table });
		if (rules.state === "error") {
			fail(`how it is to be read is not known: ${rules.message}`);
			return;
		}
		const worker = startWorker("files");
		worker.onerror = () => fail("the reader could not be started; reload the page and try again");
		worker.onmessage = ({ data: reply }: MessageEvent<ReadReply>) => {
			if (reply.kind === "progress") {
				setOpened({ state: "waiting", file: request.name, share: reply.share });
				return;
			}
			worker.terminate();
			if (reply.kind === "failed") {
				fail(reply.message, reply.table);
				return;
			}
			used.current = reply.used;
			const file = (reply.used.records ?? reply.used.map)?.name ?? request.name;
			if (reply.kind === "read") {
				const patients = patientList(file, reply.file);
				const { table } = reply;
				setOpened({ state: "read", file, summary: reply.file, patients, table });
				tell.current(patients);
			} else {
				const { used: _, kind, ...rest } = reply;
				setOpened({ state: kind, file, ...rest } as OpenedFile);
			}
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
	const start = useCallback((files: readonly File[], name: string, order?: DateOrder) => {
		setOpened({ state: "waiting", file: name, share: 0 });
		last.current = { files, name, order };
		setRequest(last.current);
	}, []);
	return [
		opened,
		{
			open: useCallback((files: readonly File[]) => start(files, namesOf(files)), [start]),
			readDates: useCallback(
				(order: DateOrder) => start([], used.current.records?.name ?? "the file", order),
				[start],
			),
			readColumns: useCallback(
				(first: readonly string[], choice: ColumnChoice) => {
					columns.current = new Map([...columns.current, [choiceKey(first), choice]]);
					const { files = [], name = "the file", order } = last.current ?? {};
					start(files, name, order);
				},
				[start],
			),
			leave: useCallback(() => {
				setOpened((now) => (now.state === "waiting" ? { state: "none" } : now));
				setRequest(null);
			}, []),
		},
	];
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
