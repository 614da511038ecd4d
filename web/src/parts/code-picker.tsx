import { useCallback } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { searchCodes } from "../../../src/predict/user-input/search-codes.js";
import { Combobox } from "./combobox.js";

interface CodePickerProps {
	readonly label: string;
	readonly vocabulary: Vocabulary;
	readonly onPick: (token: number) => void;
	readonly placeholder?: string;
	/** Shown in the field; if left out, the field is cleared after a choice. */
	readonly chosen?: number | null;
}

const mostShown = 30;

/** A search field for codes by number, name, synonym or category. */
export function CodePicker({ label, vocabulary, onPick, placeholder, chosen }: CodePickerProps) {
	const nameOf = useCallback(
		(token: number) => {
			const { code, name } = vocabulary.tokens[token] as { code: string; name: string };
			return name && name !== code ? `${name} (${code})` : code;
		},
		[vocabulary],
	);
	return (
		<Combobox
			label={label}
			placeholder={placeholder}
			value={chosen == null ? undefined : nameOf(chosen)}
			choicesFor={(text) =>
				searchCodes(text, { vocabulary })
					.slice(0, mostShown)
					.map(({ at: token, via }) => ({
						key: token,
						content: (
							<>
								{nameOf(token)}
								{via !== undefined && <span className="quiet"> {via}</span>}
							</>
						),
						remark: vocabulary.tokens[token]?.category,
					}))
			}
			onPick={onPick}
			noneFor={(text) => `No code of this model matches “${text}”.`}
		/>
	);
}
