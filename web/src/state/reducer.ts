import type { Patient } from "../data/patient.js";
import type { PatientList } from "../files/patient-list.js";
import { type Edit, withAdded, withMoved, withoutEdit, withRemoved } from "./edits.js";

export const views = ["patient", "model"] as const;
export type View = (typeof views)[number];

/** More than anybody reads; a link may name many. */
const mostCodes = 24;

type Edits = readonly Edit[];

/** The state of the explorer. */
export interface ExplorerState {
	readonly view: View;
	readonly patient: Patient | null;
	/** Counts the patients chosen so far. */
	readonly turn: number;
	/** The patients of the opened file; null if there is none. */
	readonly opened: PatientList | null;
	readonly edits: Edits;
	/** What undo goes back to, the last one first, and what redo comes back to. */
	readonly undone: { readonly before: readonly Edits[]; readonly after: readonly Edits[] };
	/** The event that the last edit moved: while it moves on, undo takes back all of it. */
	readonly moving: string | null;
	/** The date of prediction, in days. */
	readonly date: number;
	/** Tokens whose risk is shown. */
	readonly codes: readonly number[];
	/** The codes to come back to after patients from a file, whose codes no link must hold; null without one. */
	readonly sampleCodes: readonly number[] | null;
	/** The number of the colour of every code chosen so far: a code keeps its own. */
	readonly colours: ReadonlyMap<number, number>;
	/** The visible part of the time axis; null for all of it. */
	readonly zoom: readonly [from: number, to: number] | null;
}

/** A patient with the date and zoom to show. */
type PatientView = Pick<ExplorerState, "date" | "zoom" | "edits"> & { readonly patient: Patient };

export type Action =
	| { readonly type: "view"; readonly view: View }
	| {
			/** What a link describes; the rest stays, or is taken from `otherwise` if nothing is shown yet. */
			readonly type: "link";
			readonly view: View;
			readonly codes: readonly number[];
			readonly patient: PatientView | null;
			readonly otherwise: {
				readonly codes: readonly number[];
				readonly patient: PatientView | null;
			};
	  }
	| {
			readonly type: "patient";
			readonly patient: Patient;
			readonly date: number;
			readonly opened?: PatientList;
	  }
	| { readonly type: "date"; readonly date: number }
	| { readonly type: "code"; readonly token: number; readonly on: boolean }
	| { readonly type: "zoom"; readonly zoom: ExplorerState["zoom"] }
	| { readonly type: "add"; readonly token: number; readonly time: number }
	| { readonly type: "remove"; readonly id: string }
	| { readonly type: "move"; readonly id: string; readonly time: number }
	/** Takes one edit back, whichever it is. */
	| { readonly type: "drop"; readonly edit: Edit }
	| { readonly type: "undo" }
	| { readonly type: "redo" }
	| { readonly type: "reset" };

export const initialState: ExplorerState = {
	view: "patient",
	patient: null,
	turn: 0,
	opened: null,
	edits: [],
	undone: { before: [], after: [] },
	moving: null,
	date: 0,
	codes: [],
	sampleCodes: null,
	colours: new Map(),
	zoom: null,
};

const notBeforeBirth = ({ patient }: ExplorerState, time: number) =>
	Math.max(time, patient?.birth ?? Number.NEGATIVE_INFINITY);

/** The time of an edit, as a link has it. */
const editTime = (now: ExplorerState, time: number) =>
	notBeforeBirth(now, Math.round(100 * time) / 100);

/** Steps that undo can take back. */
const mostSteps = 100;

/** A new edit; what was undone before cannot be redone. */
const withEdits = (now: ExplorerState, edits: Edits, moving: string | null): ExplorerState => ({
	...now,
	edits,
	moving,
	undone: {
		before:
			moving !== null && moving === now.moving
				? now.undone.before
				: [now.edits, ...now.undone.before].slice(0, mostSteps),
		after: [],
	},
});

/** Edits that no undo takes back: those of another patient or of a link. */
const withoutSteps = (edits: Edits) => ({ edits, undone: initialState.undone, moving: null });

/** Goes back to the edits before, or forward again. */
function stepped(now: ExplorerState, step: "undo" | "redo"): ExplorerState {
	const { before, after } = now.undone;
	const [[edits, ...rest], others] = step === "undo" ? [before, after] : [after, before];
	if (!edits) return now;
	const past = [now.edits, ...others];
	const undone = step === "undo" ? { before: rest, after: past } : { before: past, after: rest };
	return { ...now, edits, undone, moving: null };
}

/** The first codes, each with the colour that it had, or one that no other has. */
function withCodes(
	colours: ExplorerState["colours"],
	all: readonly number[],
): Pick<ExplorerState, "codes" | "colours"> {
	const codes = all.slice(0, mostCodes);
	const chosen = new Map(colours);
	const taken = new Set<number>();
	for (const token of codes) {
		let colour = chosen.get(token) ?? 0;
		if (!chosen.has(token) || taken.has(colour)) {
			const others = new Set(
				codes.flatMap((other) => (other === token ? [] : (chosen.get(other) ?? []))),
			);
			colour = 0;
			while (others.has(colour)) colour++;
			chosen.set(token, colour);
		}
		taken.add(colour);
	}
	return { codes, colours: chosen };
}

export function reduceState(now: ExplorerState, action: Action): ExplorerState {
	switch (action.type) {
		case "view":
			return { ...now, view: action.view };
		case "link": {
			const { view, otherwise } = action;
			const current = action.patient ? (now.sampleCodes ?? now.codes) : now.codes;
			const codes = [action.codes, current, otherwise.codes].find(({ length }) => length > 0) ?? [];
			const shown = action.patient ?? (now.patient ? null : otherwise.patient);
			const isOther = shown !== null && shown.patient !== now.patient;
			return {
				...now,
				view,
				...withCodes(now.colours, codes),
				sampleCodes: shown ? null : now.sampleCodes,
				...shown,
				...(isOther || (shown?.edits.length ?? 0) > 0
					? withoutSteps(shown?.edits ?? [])
					: { edits: now.edits }),
				turn: now.turn + Number(isOther),
			};
		}
		case "patient": {
			const isPrivate = action.patient.sample === null;
			const shared = now.sampleCodes ?? now.codes;
			return {
				...now,
				...(isPrivate
					? { sampleCodes: shared }
					: { ...withCodes(now.colours, shared), sampleCodes: null }),
				patient: action.patient,
				turn: now.turn + 1,
				opened: action.opened ?? now.opened,
				date: action.date,
				...withoutSteps([]),
				zoom: null,
			};
		}
		case "date":
			return { ...now, date: notBeforeBirth(now, action.date) };
		case "code": {
			const others = now.codes.filter((token) => token !== action.token);
			return { ...now, ...withCodes(now.colours, action.on ? [...others, action.token] : others) };
		}
		case "zoom":
			return { ...now, zoom: action.zoom };
		case "add":
			return withEdits(now, withAdded(now.edits, action.token, editTime(now, action.time)), null);
		case "remove":
			return withEdits(now, withRemoved(now.edits, action.id), null);
		case "move":
			return withEdits(now, withMoved(now.edits, action.id, editTime(now, action.time)), action.id);
		case "drop":
			return withEdits(now, withoutEdit(now.edits, action.edit), null);
		case "undo":
		case "redo":
			return stepped(now, action.type);
		case "reset":
			return now.edits.length > 0 ? withEdits(now, [], null) : now;
	}
}
