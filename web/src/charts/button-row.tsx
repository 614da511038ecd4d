interface ButtonRowProps {
	readonly className: string;
	readonly label: string;
	readonly buttons: readonly (readonly [
		sign: string,
		name: string,
		off: boolean,
		act: () => void,
	])[];
}

/** Small buttons with signs, such as those that zoom. */
export const ButtonRow = ({ className, label, buttons }: ButtonRowProps) => (
	<fieldset className={className} aria-label={label}>
		{buttons.map(([sign, name, off, act]) => (
			// aria-disabled, not disabled: a disabled button would lose the focus.
			<button
				key={name}
				type="button"
				className="small"
				aria-label={name}
				aria-disabled={off}
				onClick={() => !off && act()}
			>
				{sign}
			</button>
		))}
	</fieldset>
);
