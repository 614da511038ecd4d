import { createContext, type Dispatch, useContext } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import type { Patient } from "../data/patient.js";
import type { Action } from "./reducer.js";

/** What all panels about a patient share. */
export interface PatientPanels {
	readonly patient: Patient;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	/** The colour of a code whose risk is shown. */
	readonly colourOf: (token: number) => string | undefined;
	readonly dispatch: Dispatch<Action>;
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
