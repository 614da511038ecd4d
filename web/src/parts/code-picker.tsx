import { useId, useMemo, useState } from "react";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import { searchCodes } from "../../../src/infer/user-input/search-codes.js";

interface CodePickerProps {
	readonly label: string;
	readonly vocabulary: Vocabulary;
	readonly onPick: (token: number) => void;
	readonly placeholder?: string;
	/** Shown in the field; if left out, the field is cleared after a choice. */
	readonly chosen?: number | null;
}

const mostShown = 30;

/** A search field for codes by number, name, synonym or category; arrows and Enter choose. */
export function CodePicker({ label, vocabulary, onPick, placeholder, chosen }: CodePickerProps) {
	const id = useId();
	const nameOf = (token: number) => {
		const { code, name } = vocabulary.tokens[token] as { code: string; name: string };
		return name && name !== code ? `${name} (${code})` : code;
	};
	const [text, setText] = useState("");
	const [open, setOpen] = useState(false);
	const [active, setActive] = useState(0);
	const found = useMemo(
		() => (open ? searchCodes(text, { vocabulary }).slice(0, mostShown) : []),
		[open, vocabulary, text],
	);
	const shown = !open && chosen != null ? nameOf(chosen) : text;
	const pick = (token: number | undefined) => {
		if (token === undefined) return;
		onPick(token);
		setText("");
		setOpen(false);
	};
	return (
		<div className="picker">
			<label htmlFor={id}>{label}</label>
			<input
				id={id}
				type="text"
				role="combobox"
				autoComplete="off"
				aria-expanded={open && found.length > 0}
				aria-controls={`${id}-list`}
				aria-autocomplete="list"
				{...(open && found.length > 0 && { "aria-activedescendant": `${id}-${active}` })}
				placeholder={placeholder}
				value={shown}
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
						const next = (active + step + found.length) % Math.max(1, found.length);
						setActive(next);
						document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
					} else if (event.key === "Enter") {
						event.preventDefault();
						pick(found[active]?.at);
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
				hidden={!open || found.length === 0}
			>
				{found.map(({ at: token, via }, at) => (
					<div
						key={token}
						id={`${id}-${at}`}
						role="option"
						tabIndex={-1}
						aria-selected={at === active}
						className="picker-option"
						// On pointer down, before the field loses the focus.
						onPointerDown={(event) => {
							event.preventDefault();
							pick(token);
						}}
					>
						<span>
							{nameOf(token)}
							{via !== undefined && <span className="quiet"> {via}</span>}
						</span>
						<span className="quiet">{vocabulary.tokens[token]?.category}</span>
					</div>
				))}
			</div>
			{open && found.length === 0 && text !== "" && (
				<p className="picker-none">No code of this model matches “{text}”.</p>
			)}
		</div>
	);
}
