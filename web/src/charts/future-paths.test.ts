import { expect, test } from "vitest";
import { futurePaths } from "./future-paths.js";
import { timeScale } from "./time-scale.js";
import type { TimelineRow } from "./timeline-layout.js";

const scale = timeScale([0, 100], 10, 600);
const row = (kind: TimelineRow["kind"], name: string): TimelineRow => ({
	...{ kind, name, category: "heart", top: 0, height: 24, head: 0, marks: [] },
});
const record = (lane: number, token: number, time: number, category = "heart") => ({
	...{ lane, token, time, category },
});
const placing = {
	...{ scale, top: 100, nameOf: (token: number) => `code ${token}` },
	colourOf: (token: number) => (token === 7 ? "red" : undefined),
};
const futures = {
	lanes: 4,
	records: [
		record(0, 6, 50),
		record(0, 6, 50.5),
		record(1, 6, 50.2),
		record(2, 7, 80),
		record(3, 6, 50, "lungs"),
		record(3, 6, 150),
	],
};

test("a category shows the share of futures with a record, each counted once, and chosen codes in colour", () => {
	const [shares, chosen] = futurePaths(futures, [row("category", "heart")], placing);
	// Two of four futures by day 50: half of the 20 pixels within the margins.
	expect(shares).toMatchObject({
		kind: "share",
		d: expect.stringContaining("M310.0 122.0v-10.0h6"),
	});
	expect(shares?.d.match(/M/g)).toHaveLength(2);
	expect(chosen).toMatchObject({ kind: "records", colour: "red", d: "M490.0 114.5h4" });
});

test("an opened category has a lane per future, and its codes their own shares", () => {
	const rows = [row("opened", "heart"), row("code", "code 7"), row("code", "code 8")];
	const [lanes, chosen, ofCode] = futurePaths(futures, rows, placing);
	expect(lanes).toMatchObject({ kind: "records", width: 5 });
	expect(lanes?.d.match(/M/g)).toHaveLength(4);
	expect(chosen?.colour).toBe("red");
	expect(ofCode).toMatchObject({ kind: "share" });
	expect(futurePaths(futures, rows.slice(2), placing)).toEqual([]);
});
