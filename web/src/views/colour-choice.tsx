import { useId } from "react";

interface ColourChoiceProps {
	readonly colour: string;
	/** Names by value. */
	readonly colours: Readonly<Record<string, string>>;
	readonly onColour: (colour: string) => void;
}

/** What the colours of a map show. */
export function ColourChoice({ colour, colours, onColour }: ColourChoiceProps) {
	const id = useId();
	return (
		<div className="field">
			<label htmlFor={id}>Colour by</label>
			<select id={id} value={colour} onChange={(event) => onColour(event.target.value)}>
				{Object.entries(colours).map(([value, name]) => (
					<option key={value} value={value}>
						{name}
					</option>
				))}
			</select>
		</div>
	);
}
