import { type ReactNode, useId, useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { searchCodes } from "../../../src/predict/user-input/find-code.js";

/** One choice. */
interface Choice {
	readonly key: number;
	readonly content: ReactNode;
	/** At the end of the line. */
	readonly remark?: ReactNode;
}

interface ComboboxProps {
	readonly label: string;
	readonly className?: string;
	readonly placeholder?: string | undefined;
	/** Shown while the list is closed; the text that was typed if left out. */
	readonly value?: string | undefined;
	readonly choicesFor: (text: string) => readonly Choice[];
	readonly onPick: (key: number) => void;
	/** Said if nothing matches. */
	readonly noneFor: (text: string) => string;
	/** Said to screen readers with the list. */
	readonly status?: ((text: string) => string) | undefined;
}

/** A field to search a list; arrows and Enter choose. */
export function Combobox(props: ComboboxProps) {
	const { label, className = "", placeholder, value, choicesFor, onPick, noneFor, status } = props;
	const id = useId();
	const [text, setText] = useState("");
	const [open, setOpen] = useState(false);
	const [active, setActive] = useState(0);
	const choices = open ? choicesFor(text) : [];
	const pick = (choice: Choice | undefined) => {
		if (!choice) return;
		onPick(choice.key);
		setText("");
		setOpen(false);
	};
	return (
		<div className={`picker ${className}`}>
			<label htmlFor={id}>{label}</label>
			<input
				id={id}
				type="text"
				role="combobox"
				autoComplete="off"
				spellCheck={false}
				aria-expanded={choices.length > 0}
				aria-controls={`${id}-list`}
				aria-autocomplete="list"
				{...(choices.length > 0 && { "aria-activedescendant": `${id}-${active}` })}
				placeholder={placeholder}
				value={open ? text : (value ?? text)}
				onChange={(event) => {
					setText(event.target.value);
					setOpen(true);
					setActive(0);
				}}
				onClick={() => setOpen(true)}
				onBlur={() => setOpen(false)}
				onKeyDown={(event) => {
					if (event.key === "ArrowDown" || event.key === "ArrowUp") {
						event.preventDefault();
						const step = event.key === "ArrowDown" ? 1 : -1;
						setOpen(true);
						const next = (active + step + choices.length) % Math.max(1, choices.length);
						setActive(next);
						document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
					} else if (event.key === "Enter") {
						event.preventDefault();
						pick(choices[active]);
					} else if (event.key === "Escape") {
						setOpen(false);
						setText("");
					}
				}}
			/>
			<div
				id={`${id}-list`}
				role="listbox"
				aria-label={label}
				className="picker-list"
				hidden={choices.length === 0}
			>
				{choices.map((choice, at) => (
					<div
						key={choice.key}
						id={`${id}-${at}`}
						role="option"
						tabIndex={-1}
						aria-selected={at === active}
						className="picker-option"
						// On pointer down, before the field loses the focus.
						onPointerDown={(event) => {
							event.preventDefault();
							pick(choice);
						}}
					>
						<span>{choice.content}</span>
						<span className="quiet">{choice.remark}</span>
					</div>
				))}
			</div>
			{open && status && (
				<p className="hidden" role="status">
					{status(text)}
				</p>
			)}
			{open && choices.length === 0 && text !== "" && (
				<p className="picker-none">{noneFor(text)}</p>
			)}
		</div>
	);
}

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
	const nameOf = (token: number) => {
		const { code = "", name } = vocabulary.tokens[token] ?? {};
		return name && name !== code ? `${name} (${code})` : code;
	};
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
