import { Notice } from "../parts/notice.js";

interface FailureProps {
	readonly title: string;
	readonly message: string;
	/** The date of the numbers that are still shown. */
	readonly standing: string | null;
	readonly onRetry: () => void;
}

/** Why there are no predictions, or only outdated ones. */
export function Failure({ title, message, standing, onRetry }: FailureProps) {
	return (
		<Notice kind="error" title={title}>
			<p>{message}</p>
			{standing && <p>The numbers below are still those of {standing}.</p>}
			<button type="button" onClick={onRetry}>
				Open the model again
			</button>
		</Notice>
	);
}
