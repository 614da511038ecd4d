import { Component, type ReactNode } from "react";
import { Button } from "./parts/button.js";
import { Notice } from "./parts/notice.js";

interface ErrorBoundaryProps {
	/** A change retries what failed. */
	readonly of?: string;
	readonly children: ReactNode;
}

/** Keeps the rest of the page when a part of it fails. */
export class ErrorBoundary extends Component<ErrorBoundaryProps> {
	override readonly state: { readonly failed: { readonly what: string } | null } = { failed: null };

	static getDerivedStateFromError(error: unknown) {
		return { failed: { what: error instanceof Error ? `${error.name}: ${error.message}` : "" } };
	}

	override componentDidUpdate(before: ErrorBoundaryProps): void {
		if (this.state.failed && before.of !== this.props.of) this.setState({ failed: null });
	}

	override render(): ReactNode {
		const { failed } = this.state;
		if (!failed) return this.props.children;
		return <Failed what={failed.what} onRetry={() => this.setState({ failed: null })} />;
	}
}

interface FailedProps {
	readonly what: string;
	readonly onRetry: () => void;
}

export function Failed({ what, onRetry }: FailedProps) {
	return (
		<Notice kind="error" title="This part of the page stopped working">
			<p>
				This is a fault of the page, not of your records. Nothing left the page: no record was sent
				or saved. Reload to start again, then reopen your file.
			</p>
			{what && <p className="quiet">What happened: {what}</p>}
			<p>
				<Button onClick={() => location.reload()}>Reload the page</Button>{" "}
				<Button onClick={onRetry}>Try again</Button>
			</p>
		</Notice>
	);
}
