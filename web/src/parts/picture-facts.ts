import { createContext } from "react";

/** What a picture or table needs to be understood elsewhere. */
export interface PictureFacts {
	/** Says that the people, or those of the model, are simulated; null if neither are. */
	readonly population: string | null;
	/** Null where no patient is shown. */
	readonly patient: string | null;
	readonly date: string | null;
	/** Null until it is known. */
	readonly run: string | null;
}

export const noFacts: PictureFacts = { population: null, patient: null, date: null, run: null };

export const PictureContext = createContext(noFacts);

/** What a page says of the model's population. A patient from a file is not one of it. */
export const populationText = (population: string | null, isFromFile: boolean): string | null =>
	population !== null && isFromFile ? "model of a simulated population" : population;

/** `simulated population, not real people · Sample 1, female · predicted on 2006-02-09 · run 1a2b3c4d` */
export const factsText = ({ population, patient, date, run }: PictureFacts): string =>
	[population, patient, date && `predicted on ${date}`, run && `run ${run}`]
		.filter(Boolean)
		.join(" · ");
