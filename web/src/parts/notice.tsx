import type { ReactNode } from "react";

interface NoticeProps {
	readonly kind: "loading" | "empty" | "error";
	readonly title: string;
	readonly children?: ReactNode;
}

/** What stands where something is not there: yet, at all, or because it failed. */
export function Notice({ kind, title, children }: NoticeProps) {
	return (
		<div
			className={`notice notice-${kind}`}
			{...(kind === "error" ? { role: "alert" } : kind === "loading" ? { role: "status" } : {})}
		>
			{kind === "loading" && <span className="spinner" aria-hidden="true" />}
			<div>
				<p className="notice-title">{title}</p>
				{children}
			</div>
		</div>
	);
}
