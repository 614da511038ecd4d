import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { ErrorBoundary, Failed } from "./error-boundary.js";

test("explains a failure, what to do, and that no record was sent", () => {
	const { failed } = ErrorBoundary.getDerivedStateFromError(new RangeError("too much"));
	expect(failed).toEqual({ what: "RangeError: too much" });
	const html = renderToStaticMarkup(
		createElement(Failed, { what: failed?.what ?? "", onRetry: () => {} }),
	);
	expect(html).toContain('role="alert"');
	expect(html).toContain("This part of the page stopped working");
	expect(html).toContain("no record was sent or saved");
	expect(html).toContain("What happened: RangeError: too much");
	expect(html).toContain("Reload the page");
});

test("shows its children, and does not quote what is not an Error", () => {
	expect(renderToStaticMarkup(createElement(ErrorBoundary, null, "a view"))).toBe("a view");
	expect(ErrorBoundary.getDerivedStateFromError("text")).toEqual({ failed: { what: "" } });
});
