export { chooseSmoothing, countScores } from "./counts.js";
export { nextEventScores, type TrainedModel } from "./next-event.js";
export { type PatientScore, type ScoreSummary, summarizeScores } from "./scores.js";
