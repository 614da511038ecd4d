import { createContext, type Dispatch, useContext } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import type { RunningExport } from "../../../src/predict/browser/open-export.js";
import type { Patient, PatientEvent } from "../data/patient.js";
import type { Answer } from "../engine/answers.js";
import type { RiskModel, RiskRequest, Risks } from "../engine/risks.js";
import type { Action, ExplorerState } from "./reducer.js";

/** What the panels about a patient share: the history, the model, and its risks. */
export interface PatientPanels {
	readonly patient: Patient;
	/** The history with the edits applied. */
	readonly events: readonly PatientEvent[];
	readonly explorer: ExplorerState;
	readonly dispatch: Dispatch<Action>;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	/** The colour of a code whose risk is shown. */
	readonly colourOf: (token: number) => string | undefined;
	/** Null until it is loaded. */
	readonly model: RunningExport | null;
	/** Null if the model has learned no hazards, or until it is loaded. */
	readonly riskModel: RiskModel | null;
	readonly request: RiskRequest;
	readonly answer: Answer<RiskRequest, Risks>;
}

const PatientContext = createContext<PatientPanels | null>(null);

export const PatientProvider = PatientContext.Provider;

export function usePatient(): PatientPanels & ReturnType<typeof codeWords> {
	const panels = useContext(PatientContext);
	if (!panels) throw new Error("a panel stands outside of a patient");
	return { ...panels, ...codeWords(panels.vocabulary) };
}

/** Names and codes by token. */
export const codeWords = (vocabulary: Vocabulary) => ({
	nameOf: (token: number) => codeName(vocabulary, token),
	codeOf: (token: number) => vocabulary.tokens[token]?.code ?? "",
});

/** The name of a code, or the code itself if it has none. */
export const codeName = ({ tokens }: Vocabulary, token: number): string =>
	tokens[token]?.name || tokens[token]?.code || "";
