export { datasetFigure } from "./dataset-figure.js";
export type { Figure } from "./figure.js";
export { type FigureDocument, svgOf } from "./svg.js";
