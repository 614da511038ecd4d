import type { ModelState } from "../engine/use-model.js";
import { Notice } from "../parts/notice.js";

interface WaitingProps {
	readonly modelState: ModelState;
	readonly error: string | null;
}

/** In a panel without any answers yet. Why there are none is said once, above all panels. */
export function Waiting({ modelState, error }: WaitingProps) {
	if (modelState.state === "error" || error !== null)
		return (
			<Notice kind="empty" title="No answers">
				<p>The reason stands above.</p>
			</Notice>
		);
	return (
		<Notice
			kind="loading"
			title={modelState.state === "ready" ? "QueryRunner the model…" : "Opening the model…"}
		/>
	);
}
