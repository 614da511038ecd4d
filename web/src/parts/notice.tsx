import type { ReactNode } from "react";

interface NoticeProps {
	readonly kind: "loading" | "empty" | "warning" | "error";
	readonly title: string;
	readonly children?: ReactNode;
}

const roles = { loading: "status", empty: undefined, warning: undefined, error: "alert" } as const;

/** What stands where something is not there, yet, at all or because it failed; or beside what is not to be trusted. */
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
