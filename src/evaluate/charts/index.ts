export {
	calibrationCurves,
	calibrationFigure,
	modelMeasure,
	onsetCalibrationFigure,
} from "./calibration-figure.js";
export type { Clock } from "./clock.js";
export { datasetFigure } from "./dataset-figure.js";
export type { Figure } from "./figure.js";
export {
	type PatientMap,
	patientMapFigure,
	type TokenMap,
	tokenMapFigure,
} from "./maps/map-figures.js";
export {
	type NeighbourAgreement,
	neighbourAgreement,
	placeOnMap,
	removeCommonDirection,
	type UmapOptions,
	umap,
} from "./maps/umap.js";
export { decayFigure, extremeHeads, learningCurveFigure } from "./model-figures.js";
export { byFifthFigure, codeScoresFigure, decisionFigure } from "./onset/condition-figures.js";
export { type OnsetStory, onsetStoriesFigure } from "./onset/stories-figure.js";
export { recallByWindowFigure } from "./recall-figure.js";
export type { RiskPicture } from "./risk/picture.js";
export { riskFigure } from "./risk/risk-figure.js";
export { scalingFigure } from "./scaling-figure.js";
export { type FigureDocument, svgOf } from "./svg.js";
export type { DiseaseTrajectory } from "./trajectory-figure.js";
export { trajectoryFigure } from "./trajectory-figure.js";
