import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { IntervalChart } from "./interval-chart.js";

test("a value without events has no interval", () => {
	const rows = [
		{ name: "lowest", value: 0, low: 0, high: 0, own: false },
		{ name: "highest", value: 0.2, low: 0.1, high: 0.3, own: true },
	];
	const chart = createElement(IntervalChart, {
		...{ rows, format: String, tick: String, axis: "share" },
	});
	expect(renderToStaticMarkup(chart)).toContain(
		'aria-label="share. lowest: 0; highest: 0.2, 0.1 to 0.3"',
	);
});
