import type { ModelState } from "../engine/use-model.js";
import { Notice } from "../parts/notice.js";

interface WaitingProps {
	readonly modelState: ModelState;
	readonly error: string | null;
}

/** Shown in a panel without predictions. The reason is given once, above all panels. */
export function Waiting({ modelState, error }: WaitingProps) {
	if (modelState.state === "error" || error !== null)
		return (
			<Notice kind="empty" title="No predictions">
				<p>See the message above.</p>
			</Notice>
		);
	return (
		<Notice
			kind="loading"
			title={modelState.state === "ready" ? "Computing…" : "Loading the model…"}
		/>
	);
}
