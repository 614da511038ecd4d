import type { ReactNode } from "react";

interface NoticeProps {
	readonly kind: "loading" | "empty" | "warning" | "error";
	readonly title: string;
	readonly children?: ReactNode;
}

const roles = { loading: "status", empty: undefined, warning: undefined, error: "alert" } as const;

/** A message: something is loading, missing, unreliable or failed. */
export function Notice({ kind, title, children }: NoticeProps) {
	return (
		<div className={`notice notice-${kind}`} role={roles[kind]}>
			{kind === "loading" && <span className="spinner" aria-hidden="true" />}
			<div>
				<p className="notice-title">{title}</p>
				{children}
			</div>
		</div>
	);
}
