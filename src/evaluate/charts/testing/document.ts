import { parseHTML } from "linkedom";
import type { FigureDocument } from "../svg.js";

/** A new document, as a page would have. */
export const testDocument = (): FigureDocument =>
	parseHTML("<!doctype html><html></html>").document as unknown as FigureDocument;
