import fc from "fast-check";
import { expect, test } from "vitest";
import { vocabularyOf } from "../../../src/data/cohort/vocabulary.js";
import { edited as editedHistory } from "../../../src/predict/index.js";
import { phecode } from "../../testing/patients.js";
import type { Patient } from "../data/patient.js";
import { addingRange, dateRange } from "../data/patient.js";
import { patientList } from "../files/patient-list.js";
import { type AddressWindow, addressBar, ownView } from "./address.js";
import { type Edit, editedEvents, editsIn, libraryEdit } from "./edits.js";
import { type Action, type ExplorerState, initialState, reduceState } from "./reducer.js";
import {
	copiedLink,
	dateWithin,
	followLink,
	isLink,
	linkTo,
	readLink,
	withView,
} from "./view-link.js";

const events = [10, 20, 20, 30].map((time, at) => ({ id: `e${at}`, token: 5 + at, time }));
const patient: Patient = { sample: "s2", name: "Sample 2", sex: null, birth: 1, events };
const after = (...actions: readonly Action[]) =>
	actions.reduce(reduceState, reduceState(initialState, { type: "patient", patient, date: 25 }));

test("edits add, move and remove events, and can be undone", () => {
	const now = after(
		{ type: "add", token: 9, time: 20 },
		{ type: "move", id: "e0", time: 25 },
		{ type: "remove", id: "e3" },
	);
	expect(editedEvents(events, now.edits).map(({ id, time }) => [id, time])).toEqual([
		["e1", 20],
		["e2", 20],
		["n1", 20],
		["e0", 25],
	]);
	const undone = reduceState(now, { type: "drop", edit: now.edits[1] as Edit });
	expect(editedEvents(events, undone.edits)[0]).toEqual(events[0]);
	expect(reduceState(now, { type: "reset" }).edits).toEqual([]);
});

test("undo and redo step through the edits, and a new edit ends redoing", () => {
	const step = (now: ExplorerState, ...types: readonly ("undo" | "redo" | "reset")[]) =>
		types.reduce((state, type) => reduceState(state, { type }), now);
	const two = after({ type: "add", token: 9, time: 20 }, { type: "remove", id: "e3" });
	const one = step(two, "undo");
	expect(one.edits).toEqual([two.edits[0]]);
	expect(step(one, "redo").edits).toEqual(two.edits);
	expect(step(two, "undo", "undo", "undo").edits).toEqual([]);
	expect(step(two, "reset", "undo").edits).toEqual(two.edits);
	const dropped = reduceState(two, { type: "drop", edit: two.edits[0] as Edit });
	expect(step(dropped, "undo").edits).toEqual(two.edits);
	const other = reduceState(one, { type: "remove", id: "e1" });
	expect(step(other, "redo")).toBe(other);
	expect(step(after(), "undo")).toEqual(after());
	expect(reduceState(two, { type: "patient", patient, date: 25 }).undone.before).toEqual([]);
});

test("one undo takes back a whole drag", () => {
	const dragged = after(
		{ type: "remove", id: "e3" },
		{ type: "move", id: "e0", time: 11 },
		{ type: "move", id: "e0", time: 12.126 },
	);
	expect(dragged.edits.at(-1)).toEqual({ kind: "move", id: "e0", time: 12.13 });
	const undone = reduceState(dragged, { type: "undo" });
	expect(undone.edits).toEqual([{ kind: "remove", id: "e3" }]);
	expect(reduceState(undone, { type: "redo" }).edits).toEqual(dragged.edits);
});

test("a link has the edits of a sample, and only those that can be made", () => {
	const now = after(
		{ type: "add", token: 7, time: 20.5 },
		{ type: "move", id: "e0", time: 25 },
		{ type: "remove", id: "e3" },
	);
	const codeOf = (token: number) => codes.tokens[token]?.code;
	const hash = linkTo(now, codeOf);
	expect(readLink(hash).edits).toBe("+428@20.5 e0@25 -e3");
	expect(reduceState(initialState, followed(hash)).edits).toEqual(now.edits);
	const mine = { ...now, patient: { ...patient, sample: null } };
	expect(linkTo(mine, codeOf)).toBe("#patient");
	expect(
		editsIn("+999@20 +428@x +428@99999 -e9 e9@20 e1@ e1@0 @ - +@20 -e1", patient, codes),
	).toEqual([{ kind: "remove", id: "e1" }]);
});

test("an event has one edit: moving an added event changes the addition, removing it drops it", () => {
	const moved = after({ type: "add", token: 9, time: 20 }, { type: "move", id: "n1", time: 12 });
	expect(moved.edits).toEqual([{ kind: "add", event: { id: "n1", token: 9, time: 12 } }]);
	expect(reduceState(moved, { type: "remove", id: "n1" }).edits).toEqual([]);
	expect(after({ type: "move", id: "e1", time: 2 }, { type: "remove", id: "e1" }).edits).toEqual([
		{ kind: "remove", id: "e1" },
	]);
});

const noPatients = patientList("own.csv", {
	format: "CSV",
	axis: "dates",
	notes: [],
	unknown: [],
	preview: [],
	dates: null,
	bad: { count: 0, rows: [] },
	patients: [],
});

test("a link has no codes of a patient from a file, and they do not stay with a sample", () => {
	const own = { ...patient, sample: null };
	const state = after(
		{ type: "code", token: 5, on: true },
		{ type: "patient", patient: own, date: 25, opened: noPatients },
		{ type: "code", token: 7, on: true },
	);
	expect(state.codes).toEqual([5, 7]);
	expect(linkTo(state, (token) => `c.${token}`)).toBe("#patient");
	const next = reduceState(state, { type: "patient", patient: { ...own }, date: 25 });
	expect(next.codes).toEqual([5, 7]);
	const back = reduceState(next, { type: "patient", patient, date: 25 });
	expect(back.codes).toEqual([5]);
	expect(linkTo(back, (token) => `c.${token}`)).toMatch(/codes=c\.5$/);
	const link = followLink(readLink("#patient?sample=s2"), [patient], codes);
	expect(reduceState(next, link).codes).toEqual([5]);
});

test("edits have the same effect as the library's what-if", () => {
	const time = fc.integer({ min: 1, max: 40 });
	const edit = fc.oneof(
		fc.record({ add: fc.record({ token: fc.integer({ min: 5, max: 9 }), time }) }),
		fc.record({ remove: fc.integer({ min: 0, max: 3 }) }),
		fc.record({ move: fc.integer({ min: 0, max: 3 }), to: time }),
	);
	const single = (edits: readonly object[]) => {
		const places = edits.flatMap((one) =>
			Object.values(one)
				.filter((value) => typeof value === "number")
				.slice(0, 1),
		);
		return new Set(places).size === places.length;
	};
	fc.assert(
		fc.property(fc.array(edit, { maxLength: 4 }).filter(single), (edits) => {
			const mine = edits.map((one, at): Edit => {
				if ("add" in one) return { kind: "add", event: { id: `n${at}`, ...one.add } };
				if ("remove" in one) return { kind: "remove", id: `e${one.remove}` };
				return { kind: "move", id: `e${one.move}`, time: one.to };
			});
			const asLibrary = (birth: number | null) =>
				mine.map((edit) => libraryEdit(edit, { birth, events }));
			expect(asLibrary(null)).toEqual(edits);
			const theirs = editedHistory(
				{
					tokens: [3, ...events.map(({ token }) => token)],
					times: [1, ...events.map((event) => event.time)],
				},
				asLibrary(1),
			);
			const got = editedEvents(events, mine);
			expect([3, ...got.map(({ token }) => token)]).toEqual(theirs.tokens);
			expect([1, ...got.map((event) => event.time)]).toEqual(theirs.times);
		}),
	);
});

test("dates and events stay after the birth, and another patient starts without edits", () => {
	expect(after({ type: "date", date: -5 }).date).toBe(1);
	expect(after({ type: "add", token: 5, time: -5 }).edits[0]).toMatchObject({ event: { time: 1 } });
	const other = reduceState(after({ type: "remove", id: "e1" }), {
		type: "patient",
		patient,
		date: 3,
	});
	expect(other).toMatchObject({ edits: [], date: 3, zoom: null });
});

test("a code keeps its colour while others come and go", () => {
	const turn = (now: ExplorerState, token: number, on: boolean) =>
		reduceState(now, { type: "code", token, on });
	const six = [5, 6, 7, 8, 9, 10].reduce((now, token) => turn(now, token, true), initialState);
	expect(six.codes).toEqual([5, 6, 7, 8, 9, 10]);
	expect(six.codes.map((token) => six.colours.get(token))).toEqual([0, 1, 2, 3, 4, 5]);
	const less = turn(turn(six, 6, false), 8, false);
	expect(less.codes.map((token) => less.colours.get(token))).toEqual([0, 2, 4, 5]);
	const more = turn(turn(less, 11, true), 6, true);
	expect(more.codes).toEqual([5, 7, 9, 10, 11, 6]);
	expect(more.colours.get(11)).toBe(1);
	expect(more.colours.get(7)).toBe(2);
	expect(new Set(more.codes.map((token) => more.colours.get(token))).size).toBe(6);
});

test("a link restores the view", () => {
	const now = after(
		{ type: "view", view: "model" },
		{ type: "code", token: 5, on: true },
		{ type: "code", token: 6, on: true },
		{ type: "zoom", zoom: [12, 28.5] },
	);
	const link = linkTo(now, (token) => `c.${token}`);
	expect(link).toBe("#model?sample=s2&at=25&zoom=12+28.5&codes=c.5+c.6");
	expect(readLink(link)).toEqual({
		view: "model",
		sample: "s2",
		date: 25,
		codes: ["c.5", "c.6"],
		zoom: [12, 28.5],
		edits: "",
	});
});

test("a link never contains anything about a patient from a file, nor an edit", () => {
	const mine: Patient = { ...patient, sample: null, name: "Jane Roe" };
	const now = [
		{ type: "patient", patient: mine, date: 17.25 },
		{ type: "add", token: 8, time: 18.125 },
		{ type: "zoom", zoom: [16, 19] },
	].reduce((state, action) => reduceState(state, action as Action), initialState);
	expect(linkTo(now, () => undefined)).toBe("#patient");
});

test.each(["", "#", "#nonsense?at=x&zoom=3+1&years=7", "#map?%%%"])(
	"fields that %j does not give are null",
	(hash) => {
		const { view, date, zoom, sample } = readLink(hash);
		expect([view, date, zoom, sample]).toEqual(["patient", null, null, null]);
	},
);

test("ignores an address without a view, and a date out of range", () => {
	expect(["#model?sample=s1", "#model", "#main"].map(isLink)).toEqual([true, true, false]);
	// Views of earlier versions open the patient.
	expect(isLink("#what-if?sample=s1")).toBe(true);
	const unborn = { birth: null, events };
	expect(dateWithin(15, unborn)).toBe(15);
	expect(dateWithin(9, unborn)).toBeNull();
	expect(dateWithin(9, patient)).toBe(9);
	expect(dateWithin(99_999_999_999, patient)).toBeNull();
	expect(dateWithin(null, patient)).toBeNull();
});

test("links and the slider have the same date range, and links preserve its ends", () => {
	expect(dateRange(patient)).toEqual([1, 30 + 730.5]);
	expect(dateRange({ birth: null, events })[0]).toBe(10);
	expect(addingRange({ birth: null, events })).toEqual([10 - 730.5, 30 + 730.5]);
	expect(addingRange(patient)).toEqual(dateRange(patient));
	const late = { ...patient, birth: 1.006, events: [{ ...events[0]!, time: 30.0061 }] };
	for (const end of dateRange(late)) {
		const now = reduceState(initialState, { type: "patient", patient: late, date: end });
		const { date } = readLink(linkTo(now, () => undefined));
		expect(dateWithin(date, late)).toBeCloseTo(end, 2);
		expect(dateWithin(date, late)).toBeLessThanOrEqual(dateRange(late)[1]);
	}
	const [, last] = dateRange(patient);
	expect(dateWithin(last + 0.1, patient)).toBeNull();
});

test("the copied link follows the state, not the address bar", () => {
	const [shown, hash] = ["http://here/page/?a=1#patient?at=3", "#model?at=5"];
	expect(copiedLink(shown, hash, patient)).toEqual({
		link: "http://here/page/?a=1#model?at=5",
		words: "Link copied",
	});
	expect(copiedLink(shown, null, null)).toEqual({ link: shown, words: "Link copied" });
	expect(copiedLink(shown, hash, { sample: null }).words).toBe("Link copied, without the patient");
});

test("choosing a patient increases the turn, other actions do not", () => {
	const { turn } = after();
	expect(after({ type: "date", date: 12 }, { type: "remove", id: "e1" }).turn).toBe(turn);
	expect(after({ type: "patient", patient: { ...patient }, date: 3 }).turn).toBe(turn + 1);
	const sight = { patient: { ...patient }, date: 3, zoom: null, edits: [] };
	const link = { type: "link", view: "patient", codes: [] } as const;
	const otherwise = { codes: [], patient: null };
	expect(after({ ...link, patient: sight, otherwise }).turn).toBe(turn + 1);
	expect(after({ ...link, patient: { ...sight, patient }, otherwise }).turn).toBe(turn);
});

/** A browser's history: entries, and which of them is shown. */
function fakeWindow(hash: string) {
	const entries: { hash: string; state: unknown }[] = [{ hash, state: null }];
	let at = 0;
	const window: AddressWindow = {
		location: {
			get hash() {
				return entries[at]!.hash;
			},
		},
		history: {
			get state() {
				return entries[at]!.state;
			},
			pushState: (state, _, url) => void entries.splice(++at, entries.length, { hash: url, state }),
			replaceState: (state, _, url) => void entries.splice(at, 1, { hash: url, state }),
		},
	};
	const go = (steps: number) => {
		at += steps;
		return ownView(entries[at]!.state);
	};
	return { window, go, hashes: () => entries.map((entry) => entry.hash) };
}

test("another view adds a history entry; a date or an edit replaces the current one", () => {
	const { window, go, hashes } = fakeWindow("#patient?at=0");
	const bar = addressBar(window, "patient");
	bar.show("patient", "#patient?at=1");
	bar.show("patient", "#patient?at=2");
	expect(hashes()).toEqual(["#patient?at=2"]);
	bar.show("model", "#model?at=2");
	bar.show("model", "#model?at=3");
	bar.show("patient", "#patient?at=3");
	expect(hashes()).toEqual(["#patient?at=2", "#model?at=3", "#patient?at=3"]);
	expect(bar.isAnother("model")).toBe(true);
	expect(go(-1)).toBe("model");
	bar.wentTo("model");
	expect(bar.isAnother("model")).toBe(false);
	bar.show("model", "#model?at=4");
	expect(hashes()).toEqual(["#patient?at=2", "#model?at=4", "#patient?at=3"]);
	expect(go(-1)).toBe("patient");
});

test("recognises only history entries that the page made", () => {
	expect([null, 3, {}, { view: "nowhere" }, { view: 4 }].map(ownView)).toEqual(Array(5).fill(null));
	expect(ownView({ view: "model" })).toBe("model");
	expect(withView("#patient?sample=s1&at=3", "model")).toBe("#model?sample=s1&at=3");
	expect(withView("", "model")).toBe("#model");
});

const codes = vocabularyOf(["401", "250", "428"].map((code) => phecode(code)));
const others = [
	{ ...patient, sample: "s1", name: "Sample 1" },
	patient,
] satisfies readonly Patient[];
const followed = (hash: string) => followLink(readLink(hash), others, codes);

test("a link shows the sample it names at its date, or else the first sample", () => {
	const now = reduceState(initialState, followed("#model?sample=s2&at=20&zoom=12+28&codes=401"));
	expect(now).toEqual({
		...initialState,
		view: "model",
		patient,
		turn: 1,
		date: 20,
		zoom: [12, 28],
		codes: [5],
		colours: new Map([[5, 0]]),
	});
	const first = reduceState(initialState, followed("#patient"));
	expect(first).toMatchObject({ patient: others[0], codes: [6, 7], zoom: null });
	expect(reduceState(initialState, followed("#patient?sample=s2&at=99999")).date).not.toBe(99_999);
});

test("a link without a sample keeps the current patient, edits and codes", () => {
	const mine: Patient = { ...patient, sample: null, name: "Jane Roe" };
	const now = [
		{ type: "patient", patient: mine, date: 17 },
		{ type: "add", token: 8, time: 18 },
		{ type: "code", token: 7, on: true },
	].reduce((state, action) => reduceState(state, action as Action), initialState);
	expect(reduceState(now, followed("#model"))).toEqual({ ...now, view: "model" });
	const edited = after({ type: "remove", id: "e1" });
	expect(reduceState(edited, followed("#what-if?sample=s2&at=20"))).toMatchObject({
		edits: edited.edits,
		date: 20,
		view: "patient",
	});
	expect(reduceState(edited, followed("#what-if?sample=s1")).edits).toEqual([]);
});
