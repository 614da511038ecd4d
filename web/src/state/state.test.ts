import fc from "fast-check";
import { expect, test } from "vitest";
import { edited as editedHistory } from "../../../src/infer/index.js";
import type { Patient } from "../data/patient.js";
import { type Edit, editedEvents } from "./edits.js";
import { type Action, looking, nothingYet } from "./reducer.js";
import { dateWithin, linkTo, namesView, readLink } from "./view-link.js";

const events = [10, 20, 20, 30].map((time, at) => ({ id: `e${at}`, token: 5 + at, time }));
const patient: Patient = { sample: "s2", name: "Sample 2", sex: null, birth: 1, events };
const after = (...actions: readonly Action[]) =>
	actions.reduce(looking, looking(nothingYet, { type: "patient", patient, date: 25 }));

test("edits add, move and remove; undoing brings back what was", () => {
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
	const undone = looking(now, { type: "undo", edit: now.edits[1] as Edit });
	expect(editedEvents(events, undone.edits)[0]).toEqual(events[0]);
	expect(looking(now, { type: "reset" }).edits).toEqual([]);
});

test("an event has one edit: what was added and moved is added there, what was added and removed is gone", () => {
	const moved = after({ type: "add", token: 9, time: 20 }, { type: "move", id: "n1", time: 12 });
	expect(moved.edits).toEqual([{ kind: "add", event: { id: "n1", token: 9, time: 12 } }]);
	expect(looking(moved, { type: "remove", id: "n1" }).edits).toEqual([]);
	expect(after({ type: "move", id: "e1", time: 2 }, { type: "remove", id: "e1" }).edits).toEqual([
		{ kind: "remove", id: "e1" },
	]);
});

test("edits are those of the library", () => {
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
			const theirs = editedHistory(
				{ tokens: events.map(({ token }) => token), times: events.map((event) => event.time) },
				edits,
			);
			const got = editedEvents(events, mine);
			expect(got.map(({ token }) => token)).toEqual(theirs.tokens);
			expect(got.map((event) => event.time)).toEqual(theirs.times);
		}),
	);
});

test("nothing goes before the birth, and another patient starts without edits", () => {
	expect(after({ type: "date", date: -5 }).date).toBe(1);
	expect(after({ type: "add", token: 5, time: -5 }).edits[0]).toMatchObject({ event: { time: 1 } });
	const other = looking(after({ type: "remove", id: "e1" }), { type: "patient", patient, date: 3 });
	expect(other).toMatchObject({ edits: [], date: 3, zoom: null });
});

test("at most five codes are drawn: the last ones", () => {
	const codes = [5, 6, 7, 8, 9, 10].map((token): Action => ({ type: "code", token, on: true }));
	expect(after(...codes).codes).toEqual([6, 7, 8, 9, 10]);
	expect(after(...codes, { type: "code", token: 8, on: false }).codes).toEqual([6, 7, 9, 10]);
});

test("a link holds the view and comes back as it was", () => {
	const now = after(
		{ type: "view", view: "what-if" },
		{ type: "codes", codes: [5, 6] },
		{ type: "horizon", years: 10 },
		{ type: "zoom", zoom: [12, 28.5] },
	);
	const link = linkTo(now, (token) => `c.${token}`);
	expect(link).toBe("#what-if?sample=s2&at=25&zoom=12+28.5&codes=c.5+c.6&years=10");
	expect(readLink(link)).toEqual({
		view: "what-if",
		sample: "s2",
		date: 25,
		codes: ["c.5", "c.6"],
		horizonYears: 10,
		zoom: [12, 28.5],
	});
});

test("a link never holds anything of a patient from a file, nor an edit", () => {
	const mine: Patient = { ...patient, sample: null, name: "Jane Roe" };
	const now = [
		{ type: "patient", patient: mine, date: 17.25 },
		{ type: "add", token: 8, time: 18.125 },
		{ type: "zoom", zoom: [16, 19] },
	].reduce((state, action) => looking(state, action as Action), nothingYet);
	expect(linkTo(now, () => undefined)).toBe("#patient?years=5");
});

test.each(["", "#", "#nonsense?at=x&zoom=3+1&years=7", "#map?%%%"])(
	"what %j does not say is left open",
	(hash) => {
		const { date, zoom, horizonYears, sample } = readLink(hash);
		expect([date, zoom, horizonYears, sample]).toEqual([null, null, null, null]);
	},
);

test("an address that names no view is left alone, and a date out of reach is none", () => {
	expect(namesView("#map?sample=s1")).toBe(true);
	expect(namesView("#map")).toBe(true);
	expect(namesView("#main")).toBe(false);
	const events = [{ time: 10 }, { time: 20 }];
	expect(dateWithin(15, events, 30)).toBe(15);
	expect(dateWithin(9, events, 30)).toBeNull();
	expect(dateWithin(99_999_999_999, events, 30)).toBeNull();
	expect(dateWithin(null, events, 30)).toBeNull();
});
